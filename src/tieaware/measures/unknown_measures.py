"""Error messages for texts that name no measure."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from tieaware.errors import InputError, hints
from tieaware.measures.definition import DEFINITIONS
from tieaware.measures.spellings import ONLY_IN_NOTATION, Family, families, family_of, is_cutoff, key

# The measures that an error lists if no name is similar: all of them would make it unreadable.
LISTED = "AP, RR, nDCG, P, R, F1, RBP, ERR, Success, Bpref, Q … (tieaware.measures.DEFINITIONS has all)"
# The least similarity of names, from 0 to 1. Short names have much in common by chance.
_ALIKE, _ALIKE_IF_SHORT, _SHORT = 0.6, 0.7, 3


def error_for(text: str, is_measure: Callable[[str], bool]) -> InputError:
    """Return the error for a text that is no measure. It suggests only texts for which `is_measure` returns True."""
    if not text:
        return InputError("measure", "the name is empty; write a measure such as nDCG@10")
    if text.isdecimal():
        return InputError("measure", f"{text!r} is a number; write a cut-off after its measure, as in nDCG@10")
    name, parameters, cutoff = _split(text)
    in_notation = name == ONLY_IN_NOTATION and "@" in text
    family = Family(DEFINITIONS[ONLY_IN_NOTATION]) if in_notation else family_of(name)
    instead = hints("measures").get(key(name), "")
    if instead and not in_notation:
        return InputError("measure", f"{text!r} {instead}")
    error = _wrong_cutoff(text, family, parameters, cutoff) if family else None
    if error is not None:
        return error
    wanted, known = key(name), families()
    alike = difflib.get_close_matches(wanted, known, 1, _ALIKE_IF_SHORT if len(wanted) <= _SHORT else _ALIKE)
    if not alike:
        return InputError("measure", f"unknown measure {text!r}; the measures are {LISTED}")
    meant = known[alike[0]]
    attempts = (meant.notation(parameters, cutoff), meant.notation("", cutoff), meant.notation())
    near = next(filter(is_measure, attempts), meant.definition.name)
    return InputError("measure", f"unknown measure {text!r}; did you mean {near}?")


def _split(text: str) -> tuple[str, str, str | None]:
    """Split a text into its name, its parameters and its cut-off, which is None if it has none."""
    before, at, after = text.partition("@")
    name, _, parameters = before.partition("(")
    if at:
        return name.strip(), parameters.rpartition(")")[0], after.strip()
    stem = name.rstrip("0123456789")
    if stem == name or family_of(name) is not None:
        return name.strip(), parameters.rpartition(")")[0], None
    return stem.removesuffix("_").removesuffix("_at"), parameters.rpartition(")")[0], name[len(stem) :]


def _wrong_cutoff(text: str, family: Family, parameters: str, cutoff: str | None) -> InputError | None:
    """Return the error for a known name with a wrong cut-off, or without one that it needs."""
    definition = family.definition
    example = family.notation(parameters, "0.1" if definition.at_recall else "10")
    if not definition.has_cutoff and not definition.at_recall and cutoff is not None:
        return InputError("measure", f"{definition.name} has no cut-off; write {family.notation()} instead of {text!r}")
    if cutoff is None and family.needs_cutoff:
        return InputError("measure", f"{text!r} needs a cut-off; write for example {example}")
    if cutoff == "":
        return InputError("measure", f"{text!r} has nothing after the @; write for example {example}")
    if not is_cutoff(definition, cutoff):
        expected = "a recall from 0 to 1" if definition.at_recall else "a whole number of at least 1"
        problem = f"expected {expected}, found {cutoff!r}; write for example {example}"
        return InputError(f"cut-off of measure {text!r}", problem, expected, repr(cutoff), argument="measure")
    return None
