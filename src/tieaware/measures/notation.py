"""The notation of measures, ``nDCG@10``, ``AP(rel=2)``, ``RBP(p=0.85)``, and their names in trec_eval."""

from __future__ import annotations

import ast
import copyreg
import re
from collections.abc import Callable, Sequence
from functools import _lru_cache_wrapper, lru_cache
from typing import Any, TypeVar

from tieaware.checks.arguments import did_you_mean, shown, unexpected
from tieaware.measures.definition import Measure
from tieaware.measures.definitions import DEFINITIONS, IPrec, SetP

_BY_NAME = {name: d for d in DEFINITIONS.values() for name in (d.name, *d.aliases)}
_BY_TREC_NAME = {d.trec_name: d for d in DEFINITIONS.values() if d.trec_name}
_BY_TREC_NAME_WITH_CUTOFF = {d.trec_name_with_cutoff: d for d in DEFINITIONS.values() if d.trec_name_with_cutoff}

# trec_eval's names of measures with parameters.
_BY_OTHER_TREC_NAME = {"set_relative_P": SetP(relative=True)}

_NOTATION = re.compile(r"(?P<name>\w+)\s*(?:\((?P<parameters>.*)\))?\s*(?:@\s*(?P<cutoff>\S+))?", re.ASCII)
_LONGEST = 200
# One of several measures in a text whose spaces are single: commas and spaces end it, but for those in brackets, and
# spaces before a bracket and around an @.
_ONE_OF_SEVERAL = re.compile(r"(?:\([^)]*\)?|[^ ,(]| (?=[@(])|(?<=@) )+")

Read = TypeVar("Read")


def listed_measures(text: str) -> tuple[str, ...]:
    """Cut a text into the measures that it names, with commas or spaces between them; at least one, be it empty.

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
    """Read one measure or several.

    Parameters
    ----------
    measures : str or Measure, or a sequence of these
        A string may name several, with commas or spaces between them. A set is refused: it has no order, which the
        columns of values would follow.

    Returns
    -------
    tuple of Measure

    Raises
    ------
    InputError
        If there is none, or one is none of `parse_measure`'s.
    """
    return _cached(_parsed, measures)


def asked_measures(measures: str | Measure | Sequence[str | Measure]) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Read measures as `parse_measures` does, and keep what each is called: "map" is AP, and stays "map".

    Raises
    ------
    InputError
        Also if two are called the same, for one would stand in the place of the other.
    """
    return _cached(_asked, measures)


def _cached(read: _lru_cache_wrapper[Read], measures: str | Measure | Sequence[str | Measure]) -> Read:
    given = _several(measures)
    try:
        return read(given)
    except TypeError:
        # One that cannot be hashed is none, which needs words.
        return read.__wrapped__(given)


def _several(measures: str | Measure | Sequence[str | Measure]) -> tuple[str | Measure, ...]:
    """Measures as they were given, one or several."""
    if isinstance(measures, str):
        return listed_measures(measures)
    if isinstance(measures, Measure):
        return (measures,)
    if _is_of_ir_measures(measures):
        return (measures,)  # type: ignore[return-value]  # by what it has
    if isinstance(measures, set | frozenset):
        raise unexpected("measures", "a list, whose order the values have", shown(measures))
    try:
        given = tuple(measures)
    except TypeError:
        raise unexpected("measures", "a list of names such as 'nDCG@10'", shown(measures)) from None
    if not given:
        raise unexpected("measures", "at least one, such as 'nDCG@10'", "none")
    return given


@lru_cache(maxsize=256)
def _parsed(measures: tuple[str | Measure, ...]) -> tuple[Measure, ...]:
    return tuple(map(parse_measure, measures))


@lru_cache(maxsize=256)
def _asked(measures: tuple[str | Measure, ...]) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    parsed = tuple(map(parse_measure, measures))
    names = tuple(" ".join(str(measure).split()) for measure in measures)
    for i, name in enumerate(names):
        if name in names[:i]:
            raise unexpected("measures", "each of them once", f"{name} twice")
    return parsed, names


def parse_measure(text: str | Measure) -> Measure:
    """Read a measure in the notation of ir_measures, or by its name in trec_eval.

    Parameters
    ----------
    text : str or Measure
        For example ``"nDCG@10"``, ``"AP(rel=2)@100"``, ``"RBP(p=0.85)"``, ``"ndcg_cut_10"``, ``"map"``. A measure is
        returned as it is; a measure object of ir_measures serves too.

    Returns
    -------
    Measure
        ``parse_measure(str(measure)) == measure``.

    Raises
    ------
    InputError
        If the text names no measure (the nearest names are given), or a parameter or cut-off has no meaning.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10"), parse_measure("MRR@10"), parse_measure("AP(rel=2)@100")
    (nDCG@10, RR@10, AP(rel=2)@100)
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        if _is_of_ir_measures(text):
            return _of_ir_measures(text)
        raise unexpected("measure", "a name such as 'nDCG@10', or a tieaware.Measure", shown(text))
    if len(text) > _LONGEST:
        raise unexpected("measure", "a name such as 'nDCG@10'", f"{len(text)} characters, {shown(text[:20])}…")
    return _read(text)


@lru_cache(maxsize=1024)
def _read(text: str) -> Measure:
    stripped = text.strip()
    by_trec_name = _by_trec_name(stripped)
    if by_trec_name is not None:
        return by_trec_name
    found = _NOTATION.fullmatch(stripped)
    if found is None:
        raise unexpected("measure", "the form name(parameter=value)@cutoff, as in 'AP(rel=2)@100'", repr(text))
    name, parameters, cutoff = found["name"], found["parameters"], found["cutoff"]
    if name not in _BY_NAME:
        raise unexpected("measure", "the name of one", f"{text!r}{_nearest(name)}")
    measure = Measure(_BY_NAME[name], **_parameters(text, parameters or ""))
    if cutoff is None:
        return measure
    if measure.definition.at_recall and re.fullmatch(r"\d+(\.\d{1,30})?(e-\d{1,3})?", cutoff, re.ASCII):
        return measure @ float(cutoff)
    if not re.fullmatch(r"-?\d{1,19}", cutoff, re.ASCII):
        raise unexpected(f"cut-off of measure {text!r}", "a whole number of at least 1", repr(cutoff))
    return measure @ int(cutoff)


def _is_of_ir_measures(value: Any) -> bool:
    """Tell ir_measures' measure objects, by what they have."""
    return isinstance(getattr(value, "NAME", None), str) and isinstance(getattr(value, "params", None), dict)


def _of_ir_measures(measure: Any) -> Measure:
    """Return the measure that one of ir_measures' is; its own parameters say what it requires."""
    name, given = measure.NAME, dict(measure.params)
    for required, info in measure.SUPPORTED_PARAMS.items():
        if info.required and required not in given:
            raise unexpected(f"measure {measure}", f"{required}, which {name} requires in ir_measures", "none")
    if name not in _BY_NAME:
        raise unexpected("measure", "one that tieaware has", f"{measure} of ir_measures")
    if name == "RBP" and "rel" not in given:
        raise unexpected(f"measure {measure}", "rel, as in RBP(rel=1)", "none, for RBP of gains")
    if name == "NumRet" and "rel" in given:
        name = "NumRelRet"
    return Measure(_BY_NAME[name], given.pop("cutoff", None), **given)


def _by_trec_name(text: str) -> Measure | None:
    if text in _BY_TREC_NAME:
        return Measure(_BY_TREC_NAME[text])
    if text in _BY_OTHER_TREC_NAME:
        return _BY_OTHER_TREC_NAME[text]
    stem, _, cutoff = text.rpartition("_")
    if stem == "iprec_at_recall" and re.fullmatch(r"[01](\.\d{1,17})?", cutoff, re.ASCII):
        return IPrec @ float(cutoff)
    if stem in _BY_TREC_NAME_WITH_CUTOFF and re.fullmatch(r"\d{1,19}", cutoff, re.ASCII):
        return Measure(_BY_TREC_NAME_WITH_CUTOFF[stem], int(cutoff))
    return None


def _parameters(text: str, parameters: str) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in parameters.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name.isidentifier() or not value:
            raise unexpected(f"measure {text!r}", "parameter=value", repr(part))
        if name in parsed:
            raise unexpected(f"measure {text!r}", f"parameter {name!r} once", "it twice")
        try:
            parsed[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parsed[name] = value  # a bare word, as in dcg=exp-log2
    return parsed


def _nearest(name: str) -> str:
    """Return the names nearest to an unknown one, or all."""
    known = [*_BY_NAME, *_BY_TREC_NAME, *(f"{each}_10" for each in _BY_TREC_NAME_WITH_CUTOFF)]
    return did_you_mean(name, known) or f"; the measures are {', '.join(DEFINITIONS)}"


def _reduced(measure: Measure) -> tuple[Callable[[str], Measure], tuple[str]]:
    return parse_measure, (str(measure),)


# A measure is pickled as it is written, for the functions of its definition may have no name to be found by.
copyreg.pickle(Measure, _reduced)
