"""The parser of measures: it reads the notation of ir_measures, such as ``AP(rel=2)@10``, and names of trec_eval."""

from __future__ import annotations

import ast
import copyreg
import re
from collections.abc import Callable, Sequence
from functools import _lru_cache_wrapper, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from tieaware.checks.arguments import did_you_mean, shown, unexpected
from tieaware.errors import InputError
from tieaware.measures.definition import Measure
from tieaware.measures.definitions import DEFINITIONS

_BY_NAME = {name: d for d in DEFINITIONS.values() for name in (d.name, *d.aliases)}
_BY_TREC_NAME = {d.trec_name: Measure(d) for d in DEFINITIONS.values() if d.trec_name} | {
    name: Measure(d, None, **settings)
    for d in DEFINITIONS.values()
    for name, settings in d.trec_names_with_parameters.items()
}
_BY_TREC_NAME_WITH_CUTOFF = {d.trec_name_with_cutoff: d for d in DEFINITIONS.values() if d.trec_name_with_cutoff}

_NOTATION = re.compile(r"(?P<name>\w+)\s*(?:\((?P<parameters>.*)\))?\s*(?:@\s*(?P<cutoff>\S+))?", re.ASCII)
_LONGEST = 200
# Matches one measure in a list such as "AP(rel=2) @ 10, RR" that has no two spaces in a row. A comma or a space ends
# the measure, but not inside brackets. A space before a bracket or beside an @ does not end it either.
_ONE_OF_SEVERAL = re.compile(r"(?:\([^)]*\)?|[^ ,(]| (?=[@(])|(?<=@) )+")

Parsed = TypeVar("Parsed")


def listed_measures(text: str) -> tuple[str, ...]:
    """Split a text into the measures that it lists, separated by commas or spaces; an empty text is returned as it is.

    Examples
    --------
    >>> listed_measures("AP, nDCG(dcg='exp-log2', rel=2) @ 10 RR")
    ('AP', "nDCG(dcg='exp-log2', rel=2) @ 10", 'RR')
    """
    words = text.split()
    if len(words) < 2 and "," not in text:
        return (text,)
    return tuple(_ONE_OF_SEVERAL.findall(" ".join(words))) or (text,)


def parse_measures(measures: str | Measure | Sequence[str | Measure]) -> tuple[Measure, ...]:
    """Parse one measure or several.

    Parameters
    ----------
    measures : str or Measure, or a sequence of these
        A string may list several measures, separated by commas or spaces. A set is an error, because the values are
        returned in the order of the measures.

    Returns
    -------
    tuple of Measure

    Raises
    ------
    InputError
        If there are no measures, or if `parse_measure` cannot parse one of them.
    """
    return _cached(_parse_all, measures)


def named_measures(measures: str | Measure | Sequence[str | Measure]) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Return measures as `parse_measures` does, and the names that the caller gave them, such as "map" for AP.

    Raises
    ------
    InputError
        As for `parse_measures`; also if two measures have the same name, because results are looked up by name.
    """
    return _cached(_parse_all_and_name, measures)


def _cached(parse: _lru_cache_wrapper[Parsed], measures: str | Measure | Sequence[str | Measure]) -> Parsed:
    given = _separate(measures)
    try:
        return parse(given)
    except TypeError:
        # An element is not hashable, so it is neither a text nor a measure. Parse without the cache, which raises an
        # InputError that shows the element.
        return parse.__wrapped__(given)


def _separate(measures: str | Measure | Sequence[str | Measure]) -> tuple[str | Measure, ...]:
    """Return the caller's measures as a tuple, not yet parsed; split a text that lists several."""
    if isinstance(measures, str):
        return listed_measures(measures)
    if isinstance(measures, Measure) or _measure_of_tool(measures):
        return (measures,)  # type: ignore[return-value]
    if isinstance(measures, set | frozenset):
        raise InputError("measures", "must be a list instead of a set, because values follow their order")
    try:
        given = tuple(measures)
    except TypeError:
        raise unexpected("measures", "a list of names such as 'nDCG@10'", shown(measures)) from None
    if not given:
        raise InputError("measures", "must include at least one measure, such as 'nDCG@10'")
    return given


@lru_cache(maxsize=256)
def _parse_all(measures: tuple[str | Measure, ...]) -> tuple[Measure, ...]:
    return tuple(map(parse_measure, measures))


@lru_cache(maxsize=256)
def _parse_all_and_name(measures: tuple[str | Measure, ...]) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    parsed = tuple(map(parse_measure, measures))
    names = tuple(" ".join(str(measure).split()) for measure in measures)
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError("measures", f"must be different, but {name} is given twice")
    return parsed, names


def parse_measure(text: str | Measure) -> Measure:
    """Parse a measure in the notation of ir_measures, or by its name in trec_eval.

    Parameters
    ----------
    text : str or Measure
        For example ``"nDCG@10"``, ``"AP(rel=2)@100"``, ``"RBP(p=0.85)"``, ``"ndcg_cut_10"`` or ``"map"``. A `Measure`
        is returned unchanged. A measure object of ir_measures is converted.

    Returns
    -------
    Measure
        ``parse_measure(str(measure)) == measure``.

    Raises
    ------
    InputError
        If the measure is unknown (the message gives the nearest names), or if a parameter or the cut-off is unknown
        or out of range.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10"), parse_measure("MRR@10"), parse_measure("AP(rel=2)@100")
    (nDCG@10, RR@10, AP(rel=2)@100)
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        measure = _measure_of_tool(text)
        if measure is None:
            raise unexpected("measure", "a name such as 'nDCG@10', or a tieaware.Measure", shown(text))
        return measure
    if len(text) > _LONGEST:
        raise InputError("measure", f"the name {shown(text[:20])}… is too long: it has {len(text)} characters")
    return _parse(text)


@lru_cache(maxsize=1024)
def _parse(text: str) -> Measure:
    stripped = text.strip()
    by_trec_name = _by_trec_name(stripped)
    if by_trec_name is not None:
        return by_trec_name
    found = _NOTATION.fullmatch(stripped)
    if found is None:
        raise InputError("measure", f"{text!r} is not of the form name(parameter=value)@cutoff, as in 'AP(rel=2)@100'")
    name, parameters, cutoff = found["name"], found["parameters"], found["cutoff"]
    if name not in _BY_NAME:
        raise InputError("measure", f"unknown measure {text!r}{_nearest(name)}")
    measure = Measure(_BY_NAME[name], **_parameters(text, parameters or ""))
    if cutoff is None:
        return measure
    if measure.definition.at_recall and re.fullmatch(r"\d+(\.\d{1,30})?(e-\d{1,3})?", cutoff, re.ASCII):
        return measure @ float(cutoff)
    if not re.fullmatch(r"-?\d{1,19}", cutoff, re.ASCII):
        raise unexpected(f"cut-off of measure {text!r}", "a whole number of at least 1", repr(cutoff))
    return measure @ int(cutoff)


def _measure_of_tool(value: Any) -> Measure | None:
    """Convert a measure object of another tool, such as ir_measures; return None for an object of any other type.

    The function `as_measure` of the integration for the tool's package converts the object.
    """
    for base in type(value).__mro__:
        convert = _converter(str(base.__module__).partition(".")[0])
        measure = convert(value) if convert else None
        if measure is not None:
            return measure
    return None


@lru_cache(maxsize=256)
def _converter(package: str) -> Callable[[Any], Measure | None] | None:
    """Return the function `as_measure` of the integration for a package; None if there is no integration."""
    name = f"tieaware.integrations.{package}"
    if package == "builtins" or not package.isidentifier() or find_spec(name) is None:
        return None
    # Import the integration here and not at the top, so that tieaware does not require the other library (e.g.
    # ir_measures). That library is already imported: the caller passed one of its objects.
    return getattr(import_module(name), "as_measure", None)


def _by_trec_name(text: str) -> Measure | None:
    if text in _BY_TREC_NAME:
        return _BY_TREC_NAME[text]
    stem, _, number = text.rpartition("_")
    definition = _BY_TREC_NAME_WITH_CUTOFF.get(stem)
    if definition is None:
        return None
    if definition.at_recall:
        return Measure(definition) @ float(number) if re.fullmatch(r"[01](\.\d{1,17})?", number, re.ASCII) else None
    return Measure(definition, int(number)) if re.fullmatch(r"\d{1,19}", number, re.ASCII) else None


def _parameters(text: str, parameters: str) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    for setting in filter(None, map(str.strip, parameters.split(","))):
        name, equals, value = map(str.strip, setting.partition("="))
        if not equals or not name.isidentifier() or not value:
            raise InputError(f"measure {text!r}", f"{setting!r} is not of the form parameter=value")
        if name in parsed:
            raise InputError(f"measure {text!r}", f"parameter {name!r} is given twice")
        try:
            parsed[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            # A word without quotation marks, as in dcg=exp-log2.
            parsed[name] = value
    return parsed


def _nearest(name: str) -> str:
    """Return a hint for an unknown name: the most similar names, or all measures if no name is similar."""
    with_cutoff = (f"{name}_{'0.10' if d.at_recall else 10}" for name, d in _BY_TREC_NAME_WITH_CUTOFF.items())
    known = [*_BY_NAME, *_BY_TREC_NAME, *with_cutoff]
    return did_you_mean(name, known) or f"; the measures are {', '.join(DEFINITIONS)}"


def _reduce(measure: Measure) -> tuple[Callable[[str], Measure], tuple[str]]:
    return parse_measure, (str(measure),)


# A measure is pickled as its notation, because some functions in its definition are lambdas, which cannot be pickled.
copyreg.pickle(Measure, _reduce)
