"""The cases of the conformance set, read from its JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tieaware.checks.arguments import one_of


class ExactValues(NamedTuple):
    """The values of one measure for one ranking.

    Parameters
    ----------
    average : fractions.Fraction
        The mean over all orders of the tied documents.
    run_order, trec_eval, docid_ascending : fractions.Fraction
        The value if tied documents keep the order of the run, or are sorted by identifier, descending or ascending.
    optimistic, pessimistic : fractions.Fraction
        The best and the worst value over all orders of the tied documents.
    variance : fractions.Fraction
        The variance over all orders of the tied documents.
    minimum, maximum : fractions.Fraction
        The least and the greatest value over all orders of the tied documents.

    Notes
    -----
    The values of DCG and nDCG are irrational; they are rounded to 30 significant digits. All others are exact.
    """

    average: Fraction
    run_order: Fraction
    trec_eval: Fraction
    docid_ascending: Fraction
    optimistic: Fraction
    pessimistic: Fraction
    variance: Fraction
    minimum: Fraction
    maximum: Fraction


class Case(NamedTuple):
    """A ranking with its judgments, and the exact values of every measure.

    Parameters
    ----------
    id : str
        The name of the case, which is also the query in `qrels` and `run`.
    about : str
        What the case tests, in a sentence.
    tags : tuple of str
        The families to which the case belongs, such as "cut-off", "unjudged" or "real-labels".
    qrels : dict of str to dict of str to int or float
        The labels of the judged documents of the query.
    run : dict of str to dict of str to int or float
        The scores of the retrieved documents of the query, in the order of the run.
    values : mapping of str to ExactValues
        The exact values by measure. ERR and nERR are missing if a label is not whole.
    """

    id: str
    about: str
    tags: tuple[str, ...]
    qrels: dict[str, dict[str, int | float]]
    run: dict[str, dict[str, int | float]]
    values: MappingProxyType[str, ExactValues]


def path() -> Path:
    """Return the path of the JSON file with the conformance set.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> from tieaware import conformance
    >>> conformance.path().name
    'rankings_with_ties.json'
    """
    return Path(__file__).parents[1] / "data" / "conformance" / "rankings_with_ties.json"


def cases(tags: str | Iterable[str] | None = None) -> tuple[Case, ...]:
    """Return the cases of the conformance set.

    Parameters
    ----------
    tags : str or iterable of str, optional
        Only cases that have one of these tags. Default: all cases.

    Returns
    -------
    tuple of Case
        In the order of the file. The dicts of a case are new in each call.

    Raises
    ------
    InputError
        If no case has a tag.

    Examples
    --------
    >>> from tieaware import conformance
    >>> case = conformance.cases("all-tied")[0]
    >>> case.id, list(case.run[case.id].values()), list(case.qrels[case.id].values())
    ('all-tied-1-of-2-last', [0.5, 0.5], [0, 1])
    >>> case.values["RR"].average, case.values["RR"].run_order
    (Fraction(3, 4), Fraction(1, 2))
    """
    found = [_case(each) for each in _contents()["cases"]]
    if tags is None:
        return tuple(found)
    known = {tag: None for case in found for tag in case.tags}
    chosen = {one_of("tags", tag, known) for tag in ([tags] if isinstance(tags, str) else tags)}
    return tuple(case for case in found if chosen.intersection(case.tags))


@cache
def _contents() -> Any:
    contents = json.loads(path().read_text(encoding="ascii"))
    assert tuple(contents["columns"]) == ExactValues._fields
    return contents


@cache
def _exact_values(case: int) -> MappingProxyType[str, ExactValues]:
    """Return the values of a case by its place in the file. They are immutable, so all callers share them."""
    rows = _contents()["cases"][case]["values"]
    return MappingProxyType({measure: ExactValues(*map(Fraction, row)) for measure, row in rows.items()})


def _case(entry: dict[str, Any]) -> Case:
    query = entry["id"]
    run = {document: float(score) if isinstance(score, str) else score for document, score in entry["run"]}
    values = _exact_values(_places()[query])
    return Case(query, entry["about"], tuple(entry["tags"]), {query: dict(entry["judgments"])}, {query: run}, values)


@cache
def _places() -> dict[str, int]:
    return {entry["id"]: i for i, entry in enumerate(_contents()["cases"])}
