"""The record of the options that values were computed with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tieaware.output.tables import counted


class Provenance(NamedTuple):
    """The options that values were computed with.

    Attributes
    ----------
    ties : str
        The tie rule.
    precision : str or None
        The precision to which scores were reduced before the evaluation, in the notation of `tieaware.precision`;
        None if they were not.
    queries : str
        The queries that count: "judged", all judged queries; or "both", those that are judged and in the run.
    version : str
        The version of tieaware. Joined results list several versions, separated by commas.
    complete_lists : bool
        Whether the lists were given to an `Evaluator`. Otherwise they are runs, which may have been cut inside a tie.
    """

    ties: str
    precision: str | None
    queries: str
    version: str
    complete_lists: bool = False


def title_of(n_queries: int, made: Provenance | None, unanswered: Mapping[str, int]) -> str:
    """Return one line that states the number of queries that the means are over, and the options of the evaluation.

    `unanswered` has the number of unanswered queries of each run that has some.
    """
    n = counted(n_queries, "query", "queries")
    if made is None:
        return f"Means over {n}"
    over = f"the queries that each run answers, {n} in all" if made.queries == "both" else n
    precision = "" if made.precision is None else f", precision: {made.precision}"
    return f"Means over {over}{_of_them(unanswered)}, ties: {made.ties}{precision}"


def warning_of_unanswered(unanswered: Mapping[str, int], n_queries: int, remedy: str) -> str:
    """Return a line about the runs that leave queries unanswered.

    `unanswered` is as for `title_of` and not empty; `remedy` is the option that leaves these queries out.
    """
    start = unanswered_queries(unanswered, n_queries).removesuffix(", which count 0.")
    return f"{start}; the means count each as an empty list; {remedy} leaves them out"


def unanswered_queries(unanswered: Mapping[str, int], n_queries: int) -> str:
    """Return a sentence about the runs that leave queries unanswered; empty if there are none."""
    if not unanswered:
        return ""
    (run, most), *others = sorted(unanswered.items(), key=lambda item: -item[1])
    who = f"{run} and {counted(len(others), 'other run')} leave up to" if others else f"{run} leaves"
    return f"{who} {most:,} of {counted(n_queries, 'judged query', 'judged queries')} unanswered, which count 0."


def _of_them(unanswered: Mapping[str, int]) -> str:
    if not unanswered:
        return ""
    run, most = max(unanswered.items(), key=lambda item: item[1])
    return f", {most:,} of them unanswered by {run}" if len(unanswered) == 1 else f", up to {most:,} of them unanswered"
