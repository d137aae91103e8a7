"""Error messages for known measures in a wrong notation: cut-offs in brackets, other parameters, other separators."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tieaware.errors import InputError
from tieaware.measures.definition import OTHER_NAMES_OF_CUTOFF, Definition
from tieaware.measures.parameters import settings_in
from tieaware.measures.spellings import Family, family_of, is_cutoff, key

# What other tools, and users in a hurry, write instead of a comma.
_SEPARATOR = re.compile(r"[;|+&/:\n]|\sand\s")
_BRACKETS = str.maketrans("", "", "[]{}'\"`")
# The cut-off of nDCG[10], nDCG{10}, nDCG(10), ndcg@(10) and ndcg@[10].
_IN_BRACKETS = re.compile(r"(?P<name>[^@(\[{]++)@?\s*+[(\[{]\s*+(?P<cutoff>\d++)\s*+[)\]}]", re.ASCII)
_FRACTION = re.compile(r"0?\.\d+", re.ASCII)

# Other names of parameters, by key.
_CUTOFFS = {"cutoff", *map(key, OTHER_NAMES_OF_CUTOFF)}
_PARAMETERS = {
    **dict.fromkeys(
        ("minrel", "relevancelevel", "rellevel", "level", "l", "threshold", "relevance", "minrelevance"), "rel"
    ),
    **dict.fromkeys(("gain", "gainfunction"), "dcg"),
    **dict.fromkeys(("ndocs", "numdocs", "collection", "collectionsize"), "docs"),
    **dict.fromkeys(("phi", "persistence", "patience"), "p"),
}
# Other names of gains and discounts, by key.
_GAINS = {
    **dict.fromkeys(("exp", "exponential", "exp2", "burges", "explog2"), "exp-log2"),
    **dict.fromkeys(("linear", "identity", "log2"), "log2"),
}
# A label up to this one can be the smallest relevant one, so AP(2) has two readings.
_LARGEST_GRADE = 4


class _Setting(NamedTuple):
    """One setting in brackets. The name is "cutoff" for a cut-off, and "" if the setting has none."""

    name: str
    value: str
    is_named: bool


def several(text: str, names: Sequence[str], is_measure: Callable[[str], bool]) -> InputError | None:
    """Return the error for measures that are not separated by commas; None if the text does not list measures.

    Parameters
    ----------
    text : str
    names : sequence of str
        The names in `with_commas` of the text.
    is_measure : callable
        Returns whether a text is a measure.
    """
    if len(names) < 2 or not all(map(is_measure, names)):
        return None
    return InputError("measure", f"{text!r} names {len(names)} measures; separate them by commas: {','.join(names)}")


def with_commas(text: str) -> str:
    """Replace other separators of measures, such as semicolons, by commas; drop brackets and quotation marks.

    Examples
    --------
    >>> with_commas("AP; RR"), with_commas("P@{5,10}"), with_commas("['AP','RR']")
    ('AP,RR', 'P@5,10', 'AP,RR')
    """
    return ",".join(map(str.strip, _SEPARATOR.split(text if "(" in text else text.translate(_BRACKETS))))


def cutoff_in_brackets(text: str, is_measure: Callable[[str], bool]) -> InputError | None:
    """Return the error for a cut-off in brackets, such as nDCG[10]; None for any other text."""
    found = _IN_BRACKETS.fullmatch(text)
    family = found and family_of(found["name"].strip())
    right = family.notation("", found["cutoff"]) if found and family else ""
    if not right or not is_measure(right):
        return None
    return InputError("measure", f"{text!r} has its cut-off in brackets; write {right}")


def wrong_parameters(
    text: str, error: InputError, definition: Definition, parameters: str, cutoff: str | None,
    is_measure: Callable[[str], bool],
) -> InputError:  # fmt: skip
    """Return the error for parameters that the measure does not accept; it says what to write if that is clear.

    Parameters
    ----------
    text : str
        The measure as the user wrote it.
    error : InputError
        The error that the parameters raise.
    definition : Definition
    parameters : str
        The text in brackets, such as "k=10".
    cutoff : str or None
        The text after the @.
    is_measure : callable
        Returns whether a text is a measure.
    """
    given = [_setting(definition, each) for each in settings_in(parameters)]
    cutoffs = [each for each in given if each.name == "cutoff"]
    kept = ",".join(f"{each.name}={each.value}" for each in given if each.name != "cutoff")
    family = Family(definition)
    if cutoffs and not definition.has_cutoff and not definition.at_recall:
        without = family.notation(kept)
        return InputError("measure", f"{definition.name} has no cut-off; write {without} instead of {text!r}")
    is_clear = all(each.name for each in given) and (len(given) == 1 or all(each.is_named for each in given))
    if not is_clear or len(cutoffs) > (cutoff is None):
        return error
    right = family.notation(kept, cutoffs[0].value if cutoffs else cutoff)
    if not is_measure(right):
        return error
    if not cutoffs:
        return InputError(error.where, f"{error.problem.partition(';')[0]}; write {right}")
    [moved] = cutoffs
    is_grade = moved.value.isdecimal() and int(moved.value) <= _LARGEST_GRADE
    if is_grade and "rel" in definition.parameters and not moved.is_named:
        other = family.notation(f"rel={moved.value}", cutoff)
        ours = f"write {right} for a cut-off, or {other} for the smallest relevant label"
        return InputError("measure", f"{text!r} has two meanings; {ours}")
    return InputError("measure", f"{text!r} has its cut-off in brackets; write {right}")


def _setting(definition: Definition, text: str) -> _Setting:
    """Read a setting such as "k=10", with the parameter's name in tieaware; the name is "" if it is not clear."""
    before, equals, after = text.partition("=")
    # In AP(rel>=2), the name is followed by the rest of the operator; tieaware's rel is the smallest relevant label.
    name, value = key(before.strip().removesuffix(">").strip()), after.strip().strip("'\"")
    if not equals:
        name, value = _name_of_value(definition, before.strip().strip("'\"")), before.strip().strip("'\"")
    elif name in _CUTOFFS and name not in map(key, definition.parameters):
        name = "cutoff" if is_cutoff(definition, value) else ""
    else:
        known = {key(each): each for each in definition.parameters}
        is_exponential = name == "gains" and "dcg" in definition.parameters and key(value) in _GAINS
        name = "dcg" if is_exponential else known.get(name, _PARAMETERS.get(name, ""))
    if name == "dcg":
        value = repr(_GAINS.get(key(value), value))
    return _Setting(name, value, bool(equals))


def _name_of_value(definition: Definition, value: str) -> str:
    """Return the parameter that a value without a name is for; "" if it is not clear."""
    if not definition.has_cutoff and not definition.at_recall:
        # SetF(2) and ESL(2) mean their own parameters.
        return next((each for each in ("beta", "i") if each in definition.parameters), "cutoff")
    if is_cutoff(definition, value):
        return "cutoff"
    if "p" in definition.parameters and _FRACTION.fullmatch(value):
        return "p"
    return "dcg" if "dcg" in definition.parameters and key(value) in _GAINS else ""
