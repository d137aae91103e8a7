"""Rows that repeat a document of the same query: an error, or ignored with a warning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Place
from tieaware.errors import InputError, warn
from tieaware.lists.identifiers import quoted
from tieaware.lists.query_lists import Lists

# What to pass to keep the first row, by the source of the rows. The command line replaces the first by its own option.
FROM_FILE = "pass read_run(path, duplicates='first')"
FROM_FRAME = "pass Run.from_frame(frame, duplicates='first')"
FROM_DICT = "pass Run.from_dict(run, duplicates='first')"
FROM_COLUMNS = "pass Run.from_columns(query, doc, score, duplicates='first')"

# The values of the argument `duplicates`: rows that repeat a document are an error, or only the first row counts.
Duplicates: TypeAlias = Literal["error", "first"]


@dataclass(frozen=True, slots=True)
class Ignored:
    """The number of duplicate rows that were ignored, and a description of the first of them for the warning."""

    n: int = 0
    first: str = ""

    def __add__(self, other: Ignored) -> Ignored:
        return Ignored(self.n + other.n, self.first or other.first)


def check_duplicates(duplicates: Duplicates) -> None:
    """Raise InputError if `duplicates` is not "error" or "first"."""
    one_of("duplicates", duplicates, get_args(Duplicates))


def without_duplicates(
    lists: Lists, place: Place, duplicates: Duplicates, remedy: str, first_place: Place | None = None
) -> tuple[Lists, Ignored]:
    """Remove rows whose document already appears in an earlier row of the same query; return the rest.

    Parameters
    ----------
    lists : Lists
    place : callable
        Describes the place of a row of the input for messages.
    duplicates : "error" or "first"
        Whether to raise an error, or to keep only the first row with a document.
    remedy : str
        What to pass to keep only the first row, for the message: one of the constants of this module.
    first_place : callable, optional
        Describes the place of the earlier row if this needs other words; by default `place`.

    Returns
    -------
    Lists, Ignored
        The rows that are left, and the rows that were removed.

    Raises
    ------
    InputError
        A document appears twice for a query, and `duplicates` is "error". The message describes the first such row.
    """
    found = lists.duplicates(first_only=duplicates == "error")
    if len(found) == 0:
        return lists, Ignored()
    row, first = found[0].tolist()
    here, there = place(lists.source(row)), (first_place or place)(lists.source(first))
    document = f"document {quoted(lists.documents[row])} of query {lists.query_of(row)}"
    if duplicates == "error":
        raise InputError(here, f"{document} appears twice, first at {there}; to keep only the first row, {remedy}")
    return lists.without(found[:, 0]), Ignored(len(found), f"{here}: {document} appears again, first at {there}")


def warn_of(ignored: Ignored, name: str) -> None:
    """Raise a single warning about all duplicate rows that were ignored in the run called `name`."""
    if ignored.n:
        rows = "row is" if ignored.n == 1 else "rows are"
        warn(f"{name}: {ignored.n} duplicate {rows} ignored; {ignored.first}")
