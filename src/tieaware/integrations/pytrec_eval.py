"""The interface of pytrec_eval, with a choice of tie rules.

Write ``from tieaware.integrations import pytrec_eval`` instead of ``import pytrec_eval``. The original pytrec_eval need
not be installed. ``ties="trec_eval"`` gives the values of the original; ``ties="average"`` gives their averages over
the orders of tied documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tieaware.checks.arguments import did_you_mean, flag, one_of, shown, threshold, unexpected
from tieaware.errors import InputError
from tieaware.inputs import Qrels, Run, match
from tieaware.inputs.files.text import label_in, number_in
from tieaware.lists.query_lists import Lists
from tieaware.output.tables import counted
from tieaware.ties import RULES, TieRuleName
from tieaware.trec_eval import MEASURES, NICKNAMES, OF_OTHER_INPUT, SMALLEST, Line, Request, evaluate_lines, lines

# The measures that are new in trec_eval 10. They are unknown here, because pytrec_eval wraps trec_eval 9.
_ADDED = {"rbp", "rbp_resid", "unj"}
supported_measures: set[str] = set(MEASURES) - _ADDED
# As in the original, some nicknames are known although their measures, which need other files, are not supported.
supported_nicknames: dict[str, set[str]] = {
    nickname: set(names) - _ADDED for nickname, names in (NICKNAMES | OF_OTHER_INPUT).items()
}

# The most measures that the repr of an evaluator shows.
_SHOWN_NAMES = 6

# The tie rule of the original pytrec_eval. Under this rule, scores are rounded to single precision, as in the original.
_ORIGINAL_TIES: TieRuleName = "trec_eval"

# Numbers with commas between them, after a dot or an underscore.
_PARAMETERS = re.compile(r"[._]([0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*)")


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read a run, whose lines are query, Q0, document, rank, score and tag.

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
        If a line does not have six fields, a score is not a number, or a document occurs twice for a query.

    Examples
    --------
    >>> parse_run(["q1 Q0 d1 1 2.5 bm25", "q1 Q0 d2 2 2.5 bm25"])
    {'q1': {'d1': 2.5, 'd2': 2.5}}
    """
    return _parsed(f_run, "query Q0 document rank score tag", number_in, 4)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read judgments, whose lines are query, iteration, document and label.

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
        If a line does not have four fields, a label is not a number, or a document occurs twice for a query.

    Examples
    --------
    >>> parse_qrel(["q1 0 d1 1", "q1 0 d3 0.7"])
    {'q1': {'d1': 1, 'd3': 0.7}}
    """
    return _parsed(f_qrel, "query iteration document label", label_in, 3)


def _parsed(
    lines: Iterable[str], names: str, convert: Callable[[str], float], place: int
) -> dict[str, dict[str, float]]:
    """Read lines with these fields as {query: {document: number}}; `place` is the position of the number."""
    parsed: dict[str, dict[str, float]] = {}
    for i, line in enumerate(lines, start=1):
        fields = line.split()
        if len(fields) != len(names.split()):
            raise InputError(f"line {i}", f"must have the fields {names}; it has {len(fields)} fields")
        query, document = fields[0], fields[2]
        if document in parsed.setdefault(query, {}):
            raise InputError(f"line {i}", f"document {document!r} occurs twice for its query")
        try:
            parsed[query][document] = convert(fields[place])
        except ValueError as error:
            raise unexpected(f"line {i}", "a number", f"{error}") from None
    return parsed


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Combine the values of a measure over the queries: into a sum, a geometric mean or a mean.

    As in the original, the name decides: num_ measures are summed, gm_ measures get the geometric mean, all others the
    arithmetic mean.

    Parameters
    ----------
    measure : str
        For example "map", "num_ret" or "gm_map".
    values : sequence of float
        The values of the queries, as `RelevanceEvaluator.evaluate` returns them: logarithms for gm_ measures.

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
    """An evaluator that holds judgments and measures, and evaluates any number of runs.

    Parameters
    ----------
    query_relevance : dict as {query: {document: label}}
        The judgments. Labels may be real numbers, which the original does not take.
    measures : iterable of str
        trec_eval's names, as in ``{"map", "ndcg_cut.10", "recall.10,100", "P_5"}``, or the nicknames "official", "set"
        and "all_trec".
    relevance_level : float
        The smallest relevant label, above 0; for the original, it is a whole number.
    judged_docs_only_flag : bool
        Whether to remove unjudged documents from a run before it is evaluated.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. "trec_eval" also rounds scores to single precision, as the original
        does; all other rules keep the scores as they are.

    Raises
    ------
    InputError
        If pytrec_eval does not have a measure, or an argument is out of range. It is a subclass of ValueError.

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
        query_relevance: Mapping[Any, Mapping[Any, float]],
        measures: Iterable[str],
        relevance_level: float = 1,
        judged_docs_only_flag: bool = False,
        ties: TieRuleName = _ORIGINAL_TIES,
    ) -> None:
        self._ties = one_of("ties", ties, RULES)
        self._level = threshold("relevance_level", relevance_level)
        if self._level == 0:
            raise unexpected("relevance_level", "a number above 0", "0")
        self._judged_only = flag("judged_docs_only_flag", bool(judged_docs_only_flag))
        self._lines = lines(_combined(measures), level=self._level)
        judged = {query: labels for query, labels in query_relevance.items() if len(labels) > 0}
        self._qrels = Qrels.from_dict(judged)

    def __repr__(self) -> str:
        names = [line.name for line in self._lines]
        some = ", ".join(names[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")
        queries = counted(len(self._qrels), "query", "queries")
        return f"RelevanceEvaluator({queries}, measures: {some}, ties: {self._ties})"

    def evaluate(self, scores: Mapping[Any, Mapping[Any, float]]) -> dict[str, dict[str, float]]:
        """Evaluate a run.

        Parameters
        ----------
        scores : dict as {query: {document: score}}
            The run.

        Returns
        -------
        dict
            ``{query: {measure: value}}`` for the judged queries, in the order of the run. As in the original, the
            values of gm_map and gm_bpref are logarithms, and those of runid and relstring are 0. If a query of the run
            has no documents, its values are 0; the original crashes.

        Raises
        ------
        InputError
            If the run is not a dict of dicts of numbers, or a score is NaN.

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
        rows = dict(zip(evaluated.queries, values.tolist(), strict=True))
        return {query: dict(zip(keys, rows[query], strict=True)) for query in run.queries.to_list() if query in rows}


def _key(line: Line) -> str:
    """Return the name of a line of trec_eval in the results: with its cut-off, but without other parameters."""
    return line.name if MEASURES[line.family].has_line_per_parameter else line.family


def _combined(measures: Iterable[str]) -> list[Request]:
    """Parse measures as the original does. Requests of the same measure with different parameters are merged."""
    if isinstance(measures, str):
        raise unexpected("measures", "a list or set of names such as 'map'", repr(measures))
    asked: dict[str, set[str]] = {}
    for measure in measures:
        for name in supported_nicknames.get(measure, {measure}):
            name, parameters = (name, []) if name in supported_measures else _split(name)
            asked.setdefault(name, set()).update(parameters)
    return [
        Request(family, ",".join(sorted(asked[name])) if family.takes_parameters else "")
        for name, family in MEASURES.items()
        if name in asked
    ]


def _split(measure: object) -> tuple[str, list[str]]:
    """Divide a name such as "P_5,10" into the measure of trec_eval, "P", and its parameters, "5" and "10"."""
    for name in sorted(supported_measures):
        known = isinstance(measure, str) and measure.startswith(name)
        found = _PARAMETERS.match(str(measure), len(name)) if known else None
        if found:
            return name, found[1].split(",")
    hint = did_you_mean(measure, sorted(supported_measures)) if isinstance(measure, str) else ""
    raise InputError("measures", f"unknown measure {shown(measure)}{hint}")
