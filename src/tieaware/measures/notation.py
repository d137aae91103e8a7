"""The parser of measures: it reads the notation of ir_measures, such as ``AP(rel=2)@10``, and names of other tools."""

from __future__ import annotations

import ast
import copyreg
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import _lru_cache_wrapper, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

from tieaware.checks.arguments import shown, unexpected
from tieaware.errors import InputError
from tieaware.measures.definition import DEFINITIONS, Measure
from tieaware.measures.parameters import settings_in

_BY_NAME = {name: d for d in DEFINITIONS.values() for name in (d.name, *d.aliases)}
_BY_TREC_NAME = {d.trec_name: Measure(d) for d in DEFINITIONS.values() if d.trec_name} | {
    name: Measure(d, None, **settings)
    for d in DEFINITIONS.values()
    for name, settings in d.trec_names_with_parameters.items()
}
_BY_TREC_NAME_WITH_CUTOFF = {d.trec_name_with_cutoff: d for d in DEFINITIONS.values() if d.trec_name_with_cutoff}

_NOTATION = re.compile(
    r"(?P<name>\w++)\s*+(?:\((?P<parameters>.*)\)\s*+)?(?:@\s*+(?P<cutoff>\S++))?", re.ASCII
)
_CUTOFF = re.compile(r"0*[1-9]\d{0,18}", re.ASCII)
_RECALL = re.compile(r"\d+(\.\d{1,30})?(e-\d{1,3})?", re.ASCII)
_TREC_CUTOFF = re.compile(r"\d{1,19}", re.ASCII)
_TREC_RECALL = re.compile(r"[01](\.\d{1,17})?", re.ASCII)
_LONGEST = 2000
# Matches one measure in a list such as "AP(rel=2) @ 10, RR" that has no two spaces in a row. A comma or a space ends
# the measure, but not inside brackets. A space before a bracket or beside an @ does not end it either.
_ONE_OF_SEVERAL = re.compile(r"(?:\([^)]*\)?|[^ ,(]| (?=[@(])|(?<=@) )+")
# A measure with a cut-off, and a further cut-off.
_WITH_CUTOFF = re.compile(r"(.*@ ?|\w+?[._])\d+(\.\d+)?")
_FURTHER_CUTOFF = re.compile(r"\d+(\.\d+)?")
_IN_BRACKETS = re.compile(r"\([^)]*\)?")
_UNDERSCORE = re.compile(r"^[^'\"]*?[0-9]_[0-9]")

Parsed = TypeVar("Parsed")


def listed_measures(text: str) -> tuple[str, ...]:
    """Split a text into the measures that it lists, separated by commas or spaces; an empty text is returned as it is.

    A number after a measure with a cut-off is a further cut-off.

    Examples
    --------
    >>> listed_measures("AP, nDCG(dcg='exp-log2', rel=2) @ 10 RR")
    ('AP', "nDCG(dcg='exp-log2', rel=2) @ 10", 'RR')
    >>> listed_measures("P@5,10"), listed_measures("ndcg_cut.5,10")
    (('P@5', 'P@10'), ('ndcg_cut.5', 'ndcg_cut.10'))
    """
    words = text.split()
    if len(words) < 2 and "," not in text:
        return (text,)
    names: list[str] = _ONE_OF_SEVERAL.findall(" ".join(words))
    for i in range(1, len(names)):
        # A number is a further cut-off of the measure before it, as in P@5,10, in P.5,10 of trec_eval's option -m, and
        # in P_5,10.
        stem = _WITH_CUTOFF.fullmatch(names[i - 1])
        if stem and _FURTHER_CUTOFF.fullmatch(names[i]):
            names[i] = stem[1] + names[i]
    return tuple(names) or (text,)


def parse_measures(measures: str | Measure | Sequence[str | Measure]) -> tuple[Measure, ...]:
    """Parse one measure or several; a string may list several, separated by commas or spaces.

    No measures are an error, and so is a set, because values are returned in the order of the measures.
    """
    return cached_by_measures(_parse_all, measures)


def named_measures(measures: str | Measure | Sequence[str | Measure]) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Return measures as `parse_measures` does, and their names in results.

    The name is the one that the caller gave if it is in the notation or one of trec_eval, such as "map" for AP. A name
    of another tool is replaced by the notation: "ndcg@10" becomes "nDCG@10". A measure that is given twice is an error,
    because results are looked up by name.
    """
    return cached_by_measures(_parse_all_and_name, measures)


def cached_by_measures(
    parse: _lru_cache_wrapper[Parsed], measures: str | Measure | Sequence[str | Measure], *further: Hashable
) -> Parsed:
    """Call a cached function with measures that are not yet parsed.

    Parameters
    ----------
    parse : callable, cached
        Takes a tuple with the texts and measures, and the further arguments.
    measures : str or Measure, or a sequence of these
    further : hashable
    """
    given = _separate(measures)
    try:
        return parse(given, *further)
    except TypeError:
        # An element is not hashable, so it is neither a text nor a measure. Parse without the cache, which raises an
        # InputError that shows the element.
        return parse.__wrapped__(given, *further)


def _separate(measures: str | Measure | Sequence[str | Measure]) -> tuple[str | Measure, ...]:
    """Return the caller's measures as a tuple, not yet parsed; split a text that lists several."""
    if isinstance(measures, str):
        return listed_measures(measures)
    if type(measures) is list and measures:
        return tuple(measures)
    if isinstance(measures, Measure) or _measure_of_tool(measures):
        return (measures,)  # type: ignore[return-value]
    if isinstance(measures, Mapping):
        raise InputError("measures", "must be a list of names such as 'nDCG@10', not a dict")
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
    readings = tuple(map(_reading, measures))
    by_name: dict[str, int] = {}
    by_measure: dict[Measure, int] = {}
    respelled: dict[Measure, int] = {}
    for i, (measure, name, keeps_name) in enumerate(readings):
        # AP and trec_eval's map may be in the same results, because each keeps its name.
        earlier = by_name.get(name, (respelled if keeps_name else by_measure).get(measure))
        if earlier is not None:
            raise _given_twice(str(measures[earlier]), str(measures[i]))
        by_name[name] = i
        by_measure.setdefault(measure, i)
        if not keeps_name:
            respelled[measure] = i
    return tuple(each.measure for each in readings), tuple(each.name for each in readings)


def _given_twice(first: str, second: str) -> InputError:
    first, second = " ".join(first.split()), " ".join(second.split())
    if first == second:
        return InputError("measures", f"must be different, but {second} is given twice")
    return InputError("measures", f"must be different, but {first} and {second} are the same measure")


def parse_measure(text: str | Measure) -> Measure:
    """Parse a measure in the notation of ir_measures, or by its name in another tool.

    Parameters
    ----------
    text : str or Measure
        For example ``"nDCG@10"``, ``"AP(rel=2)@100"``, ``"RBP(p=0.85)"`` or trec_eval's ``"ndcg_cut_10"``. Upper and
        lower case do not matter. The page on measures lists the names of other tools, such as ``"ndcg_at_10"``. A
        `Measure` is returned unchanged. A measure object of ir_measures is converted.

    Returns
    -------
    Measure
        ``parse_measure(str(measure)) == measure``.

    Raises
    ------
    InputError
        If the measure is unknown (the message gives similar ones), or if a parameter or the cut-off is unknown or out
        of range. Also if the name has different meanings in different tools, such as accuracy.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10"), parse_measure("MRR@10"), parse_measure("AP(rel=2)@100")
    (nDCG@10, RR@10, AP(rel=2)@100)
    >>> parse_measure("ndcg@10"), parse_measure("mrr_at_10"), parse_measure("hit_rate@5"), parse_measure("rbp.95")
    (nDCG@10, RR@10, Hits@5, RBP(p=0.95))
    """
    return _reading(text).measure


class _Reading(NamedTuple):
    """A measure as it was read from a text, its name in results, and whether this is the given name."""

    measure: Measure
    name: str
    keeps_name: bool = True


def _reading(text: str | Measure) -> _Reading:
    if isinstance(text, Measure):
        return _Reading(text, str(text))
    if not isinstance(text, str):
        measure = _measure_of_tool(text)
        if measure is None:
            raise unexpected("measure", "a name such as 'nDCG@10', or a tieaware.Measure", shown(text))
        return _Reading(measure, " ".join(str(text).split()))
    if len(text) > _LONGEST:
        raise InputError("measure", f"the name {shown(text[:20])}… is too long: it has {len(text)} characters")
    return _read(text)


@lru_cache(maxsize=1024)
def _read(text: str) -> _Reading:
    reading = _known(text)
    if reading is None:
        raise _unknown(text.strip())
    return reading


def _known(text: str) -> _Reading | None:
    """Read a measure; return None for an unknown name."""
    stripped = text.strip()
    # trec_eval's option -m has a point where its output has an underscore: ndcg_cut.10 becomes ndcg_cut_10.
    for name in (stripped, stripped.replace(".", "_", 1)):
        by_trec_name = _by_trec_name(name)
        if by_trec_name is not None:
            return _Reading(by_trec_name, name)
    in_notation = _by_notation(stripped)
    if in_notation is not None:
        return _Reading(in_notation, " ".join(text.split()))
    # Import only here: names of other tools are the exception, and importing tieaware takes longer with this module.
    from tieaware.measures.spellings import respelled

    notation = respelled(stripped)
    measure = None if notation is None else _by_notation(notation)
    return None if measure is None else _Reading(measure, str(measure), keeps_name=False)


def _by_notation(text: str) -> Measure | None:
    """Parse the notation; return None for an unknown name, or if the text does not have the form of the notation."""
    found = _NOTATION.fullmatch(text)
    if found is None or found["name"] not in _BY_NAME:
        return None
    definition, cutoff = _BY_NAME[found["name"]], found["cutoff"]
    is_cutoff = (_RECALL if definition.at_recall else _CUTOFF).fullmatch
    if cutoff is not None and not is_cutoff(cutoff):
        return None
    measure = Measure(definition, **_parameters(text, found["parameters"] or ""))
    if cutoff is None:
        return measure
    return measure @ (float(cutoff) if definition.at_recall else int(cutoff))


def _unknown(text: str) -> InputError:
    """Return the error for a text that is not a measure."""
    from tieaware.measures.unknown_measures import error_for

    names = listed_measures(text)
    if (len(names) > 1 and "," in _IN_BRACKETS.sub("", text)) or (len(names) > 1 and all(map(_is_measure, names))):
        return InputError("measure", f"{text!r} names {len(names)} measures; pass a list: {list(names)}")
    return error_for(text, _is_measure)


def _is_measure(text: str) -> bool:
    try:
        return _known(text) is not None
    except InputError:
        return False


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
        return Measure(definition) @ float(number) if _TREC_RECALL.fullmatch(number) else None
    return Measure(definition, int(number)) if _TREC_CUTOFF.fullmatch(number) else None


def _parameters(text: str, parameters: str) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    for setting in settings_in(parameters):
        name, equals, value = map(str.strip, setting.partition("="))
        if not equals or not name.isidentifier() or not value:
            problem = f"{setting!r} is not of the form parameter=value, as in AP(rel=2)@100"
            raise InputError(f"measure {text!r}", problem)
        if name in parsed:
            raise InputError(f"measure {text!r}", f"parameter {name!r} is given twice")
        try:
            # Python reads 1_0 as 10, which no other reader of numbers does.
            parsed[name] = value if _UNDERSCORE.search(value) else ast.literal_eval(value)
        except (ValueError, SyntaxError):
            # A word without quotation marks, as in dcg=exp-log2.
            parsed[name] = value
    return parsed


def _reduce(measure: Measure) -> tuple[Callable[[str], Measure], tuple[str]]:
    return parse_measure, (str(measure),)


# A measure is pickled as its notation, because some functions in its definition are lambdas, which cannot be pickled.
copyreg.pickle(Measure, _reduce)
