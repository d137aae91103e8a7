"""pytrec_eval's interface: ``from tieaware.integrations import pytrec_eval`` in place of ``import pytrec_eval``.

The original need not be installed. ``ties="trec_eval"`` gives its values, ``ties="average"`` their expectations over
the orders of tied documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tieaware.checks.arguments import flag, one_of, unexpected, whole_number
from tieaware.inputs import Qrels, Run, match
from tieaware.lists.query_lists import Lists
from tieaware.ties import RULES
from tieaware.trec_eval import MEASURES, NICKNAMES, OF_OTHER_INPUT, SMALLEST, Line, Request, evaluate_lines, lines

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

# Of trec_eval 9, which pytrec_eval wraps: without what 10 has added.
_ADDED = {"rbp", "rbp_resid", "unj"}
supported_measures = set(MEASURES) - _ADDED
# As there, some nicknames stand for measures of other files than judgments and runs, and are refused.
supported_nicknames = {nickname: set(names) - _ADDED for nickname, names in (NICKNAMES | OF_OTHER_INPUT).items()}

# The tie rule of the original, which applies it to scores in single precision.
_ORIGINAL_TIES = "trec_eval"

_PARAMETERS = r"[._]([0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*)"


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read a run: lines of query, Q0, document, rank, score and tag.

    Parameters
    ----------
    f_run : iterable of str
        An open file, or its lines.

    Returns
    -------
    dict
        ``{query: {document: score}}``.

    Raises
    ------
    InputError
        If a line has not six fields, its score is no number, or a document comes twice for a query.

    Examples
    --------
    >>> parse_run(["q1 Q0 d1 1 2.5 bm25", "q1 Q0 d2 2 2.5 bm25"])
    {'q1': {'d1': 2.5, 'd2': 2.5}}
    """
    run: dict[str, dict[str, float]] = {}
    for number, line in enumerate(f_run, start=1):
        query, _, document, _, score, _ = _fields(line, number, "query Q0 document rank score tag")
        _once(run.setdefault(query, {}), document, number)
        run[query][document] = _converted(float, score, number)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read judgments: lines of query, iteration, document and label.

    Parameters
    ----------
    f_qrel : iterable of str
        An open file, or its lines.

    Returns
    -------
    dict
        ``{query: {document: label}}``.

    Raises
    ------
    InputError
        If a line has not four fields, its label is no whole number, or a document comes twice for a query.

    Examples
    --------
    >>> parse_qrel(["q1 0 d1 1", "q1 0 d3 2"])
    {'q1': {'d1': 1, 'd3': 2}}
    """
    qrel: dict[str, dict[str, int]] = {}
    for number, line in enumerate(f_qrel, start=1):
        query, _, document, label = _fields(line, number, "query iteration document label")
        _once(qrel.setdefault(query, {}), document, number)
        qrel[query][document] = _converted(int, label, number)
    return qrel


def _fields(line: str, number: int, names: str) -> list[str]:
    fields = line.split()
    if len(fields) != len(names.split()):
        raise unexpected(f"line {number}", f"the fields {names}", f"{len(fields)}")
    return fields


def _once(documents: Mapping[str, object], document: str, number: int) -> None:
    if document in documents:
        raise unexpected(f"line {number}", "each document of a query once", f"{document!r} twice")


def _converted(kind: Any, text: str, number: int) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise unexpected(f"line {number}", "a number", repr(text)) from None


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Summarise the values of the queries: counts are added up, gm_ measures get the geometric mean, all else the mean.

    Parameters
    ----------
    measure : str
        For example "map", "num_ret" or "gm_map".
    values : sequence of float
        As `RelevanceEvaluator.evaluate` returns them: of gm_ measures the logarithms.

    Returns
    -------
    float

    Examples
    --------
    >>> compute_aggregated_measure("map", [0.5, 1.0]), compute_aggregated_measure("num_ret", [3.0, 2.0])
    (0.75, 5.0)
    """
    listed = list(values)
    if measure.startswith("num_"):
        return float(np.sum(listed))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(listed) / len(listed)))
    return float(np.mean(listed))


class RelevanceEvaluator:
    """Judgments and measures, for any number of runs.

    Parameters
    ----------
    query_relevance : dict as {query: {document: label}}
    measures : iterable of str
        trec_eval's names, as in ``{"map", "ndcg_cut.10", "recall.10,100", "P_5"}``, and the nicknames "official",
        "set" and "all_trec".
    relevance_level : int
        The smallest relevant label, at least 1.
    judged_docs_only_flag : bool
        Whether documents without judgment are taken out of a run first.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. With "trec_eval" scores are rounded to single precision, as
        pytrec_eval does; with any other they are taken as they are.

    Raises
    ------
    InputError
        A ValueError, if a measure is none of pytrec_eval's, or an argument is out of range.

    Examples
    --------
    >>> qrel = {"q1": {"d1": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.1}}
    >>> RelevanceEvaluator(qrel, {"map", "P_1"}).evaluate(run)
    {'q1': {'map': 0.5833333333333333, 'P_1': 0.0}}
    >>> RelevanceEvaluator(qrel, {"map", "P_1"}, ties="average").evaluate(run)
    {'q1': {'map': 0.7083333333333333, 'P_1': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
        ties: str = _ORIGINAL_TIES,
    ) -> None:
        self._ties = one_of("ties", ties, RULES)
        self._level = whole_number("relevance_level", relevance_level, 1, 2**31)
        self._judged_only = flag("judged_docs_only_flag", bool(judged_docs_only_flag))
        self._lines = lines(_combined(measures), level=self._level)
        judged = {query: labels for query, labels in query_relevance.items() if len(labels) > 0}
        self._qrels = Qrels.from_dict(judged)

    def evaluate(self, scores: Mapping[Any, Mapping[Any, float]]) -> dict[str, dict[str, float]]:
        """Evaluate a run.

        Parameters
        ----------
        scores : dict as {query: {document: score}}

        Returns
        -------
        dict
            ``{query: {measure: value}}`` for the queries that are judged, in the order of the run. Of gm_map and
            gm_bpref the values are logarithms, of runid and relstring 0, as pytrec_eval has them. A query without
            documents is worth 0; pytrec_eval crashes.

        Raises
        ------
        InputError
            If scores are no mapping of mappings to numbers, or one is NaN.

        Examples
        --------
        >>> evaluator = RelevanceEvaluator({"q1": {"d1": 1}}, ["P.1,2", "recip_rank"], ties="average")
        >>> evaluator.evaluate({"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 1.0}})
        {'q1': {'recip_rank': 0.75, 'P_1': 0.5, 'P_2': 0.5}}
        """
        run = Run.from_dict(scores)
        if self._ties == _ORIGINAL_TIES:
            with np.errstate(over="ignore"):
                single = run.scores.astype(np.float32)
            run = Run.of(Lists(run.queries, run.offsets, run.documents, single), run.name)
        if len(self._qrels) == 0 or not (match(self._qrels, run).rows >= 0).any():
            return {}
        evaluated = evaluate_lines(
            self._qrels, run, self._lines, ties=self._ties, level=self._level, judged_only=self._judged_only,
            recalls_up=True,
        )  # fmt: skip
        values = evaluated.values
        geometric = [line.is_geometric for line in self._lines]
        values[:, geometric] = np.log(np.maximum(values[:, geometric], SMALLEST))
        keys = [_key(line) for line in self._lines]
        of_query = dict(zip(evaluated.queries, values.tolist(), strict=True))
        return {
            query: dict(zip(keys, of_query[query], strict=True))
            for query in run.queries.to_list()
            if query in of_query
        }


def _key(line: Line) -> str:
    """Return what pytrec_eval calls a line: with cut-offs, but without other parameters."""
    return line.name if MEASURES[line.family].parameters in ("ranks", "fractions") else line.family


def _combined(measures: Iterable[str]) -> list[Request]:
    """Read measures as pytrec_eval does: parameters follow a dot or an underscore, and those of a family are united."""
    if isinstance(measures, str):
        raise unexpected("measures", "a list or set of names such as 'map'", repr(measures))
    asked: dict[str, set[str]] = {}
    for measure in measures:
        for name in supported_nicknames.get(measure, {measure}):
            name, parameters = (name, []) if name in supported_measures else _split(name)
            asked.setdefault(name, set()).update(parameters)
    return [
        Request(family, ",".join(sorted(asked[name])) if family.parameters != "none" else "")
        for name, family in MEASURES.items()
        if name in asked
    ]


def _split(measure: object) -> tuple[str, list[str]]:
    for name in sorted(supported_measures):
        found = re.match(re.escape(name) + _PARAMETERS, measure) if isinstance(measure, str) else None
        if found:
            return name, found[1].split(",")
    raise unexpected("measures", "names of trec_eval's measures", f"the unsupported measure {measure}")
