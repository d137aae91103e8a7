"""Error messages for texts that name no measure. Where the meaning can be guessed, they show what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from tieaware.errors import InputError
from tieaware.measures.definitions import DEFINITIONS
from tieaware.measures.spellings import Family, families, family_of, is_cutoff, key

_OBJECTIVE = "it is a training objective"
_SUBTOPICS = "it needs judgments of subtopics, which tieaware does not read"
_CURVE = "the measure of precision over all recalls is AP"

# Names that belong to no measure of tieaware, by key, and what to say about them.
_ELSEWHERE = {
    "hole": "tieaware.integrations.beir and tieaware.integrations.mteb compute it",
    **dict.fromkeys(("aucpr", "prauc", "auprc"), _CURVE),
    **dict.fromkeys(("lambdarank", "rankxendcg", "rank:ndcg"), f"{_OBJECTIVE}, and optimises nDCG"),
    **dict.fromkeys(("rank:map", "rank:pairwise"), _OBJECTIVE),
    **dict.fromkeys(
        ("alphandcg", "alphadcg", "erria", "nerria", "nrbp", "nnrbp", "apia", "mapia", "pia", "strecall"), _SUBTOPICS
    ),
}
_ACCURACY = re.compile(r"(?:.*?[_-])??(?:top[_-]?(?P<k>\d+|k)?[_-]?)?acc(?:uracy)?(?:[_-]?score)?", re.IGNORECASE)
# ranx's -l2 sets the smallest relevant label, so with it hits@10 is the count of ranx.
_HITS = re.compile(r"hits(?:@(?P<cutoff>\d+))?(?:-l(?P<label>\d+))?", re.IGNORECASE)
_CUTOFF = re.compile(r"(?P<name>[^@]*?)\s*(?:@|(?:[_-]at[_-]))\s*(?P<cutoff>.*)", re.IGNORECASE)
_THOUSANDS = re.compile(r"(\d{1,9})k", re.IGNORECASE | re.ASCII)

# Names are alike if this share of their letters is in common, in the same order.
_LEAST_ALIKE = 0.6
_MOST_SUGGESTIONS = 2


class _Parts(NamedTuple):
    """A text, split where a measure would have its parameters and its cut-off (None if it has none)."""

    name: str
    parameters: str
    cutoff: str | None


def error_for(text: str, is_measure: Callable[[str], bool]) -> InputError:
    """Return the error for a text that is no measure.

    Parameters
    ----------
    text : str
    is_measure : callable
        Returns whether another text is a measure. The error suggests only texts for which it is True.
    """
    if not text:
        return InputError("measure", "the name is empty; write a measure such as nDCG@10")
    parts = _split(text)
    family = family_of(parts.name)
    error = _two_meanings(text, parts) or (family and _wrong_cutoff(text, parts, family))
    if error:
        return error
    right = family.notation(parts.parameters, parts.cutoff) if family else ""
    if right and is_measure(right):
        if text.endswith(")"):
            return InputError("measure", f"{text!r} has its parameters after the cut-off; write {right}")
        return InputError("measure", f"unknown measure {text!r}; did you mean {right}?")
    if family is not None or family_of(parts.name.partition("(")[0]) is not None:
        return InputError("measure", f"{text!r} is not of the form name(parameter=value)@cutoff, as in 'AP(rel=2)@100'")
    instead = _ELSEWHERE.get(key(parts.name))
    if instead is not None:
        return InputError("measure", f"unknown measure {text!r}; {instead}")
    near = list(dict.fromkeys(_suggestions(parts, is_measure)))[:_MOST_SUGGESTIONS]
    hint = f"did you mean {' or '.join(near)}?" if near else f"the measures are {', '.join(DEFINITIONS)}"
    return InputError("measure", f"unknown measure {text!r}; {hint}")


def _split(text: str) -> _Parts:
    """Split a text into name, parameters and cut-off, wherever the parameters are."""
    opening, closing = text.find("("), text.rfind(")")
    parameters = ""
    if 0 <= opening < closing:
        parameters = text[opening + 1 : closing]
        text = text[:opening] + text[closing + 1 :]
    text = text.strip("'\"` ")
    found = _CUTOFF.fullmatch(text)
    if found:
        return _Parts(found["name"], parameters, found["cutoff"].removesuffix("-"))
    return _without_mark(text, parameters)


def _without_mark(text: str, parameters: str) -> _Parts:
    """Split a text that may end in its cut-off without a mark, such as P10."""
    name = text.rstrip("0123456789")
    # In f110, the first digit belongs to the name: take the first split that gives a known name.
    splits = [i for i in range(len(name), len(text)) if text[i] != "0"]
    stems = {i: text[:i].rstrip("_.:=- ") for i in splits}
    known = [i for i in splits if family_of(stems[i]) is not None]
    if family_of(text) is not None or not splits:
        return _Parts(text, parameters, None)
    i = known[0] if known else splits[0]
    return _Parts(stems[i], parameters, text[i:])


def _two_meanings(text: str, parts: _Parts) -> InputError | None:
    """Return the error for a name that means different measures in different tools."""
    accuracy = _ACCURACY.fullmatch(parts.name)
    if accuracy is not None:
        cutoff = next((k for k in (parts.cutoff, accuracy["k"]) if k and k.isdecimal()), "k")
        auc = Family(DEFINITIONS["AUC"]).notation(parts.parameters, None if cutoff == "k" else cutoff)
        success = Family(DEFINITIONS["Success"]).notation(parts.parameters, cutoff)
        ours = f"{auc} as in ir_measures, or {success} as in beir, mteb and sentence-transformers"
        return InputError("measure", f"{text!r} has two meanings; write {ours}")
    hits = _HITS.fullmatch(text.partition("(")[0])
    if hits is not None and (hits["label"] or parts.cutoff is None):
        settings = f"rel={hits['label']}" if hits["label"] else parts.parameters
        count = Family(DEFINITIONS["NumRelRet"]).notation(settings)
        share = Family(DEFINITIONS["Hits"]).notation(settings, hits["cutoff"] or "k")
        ours = f"{count} for the number of hits, as in ranx, or {share} for the hit rate"
        return InputError("measure", f"{text!r} has two meanings; write {ours}")
    return None


def _wrong_cutoff(text: str, parts: _Parts, family: Family) -> InputError | None:
    """Return the error for a known name with a wrong cut-off, or without one that it needs."""
    definition, cutoff = family.definition, parts.cutoff
    example = family.notation(parts.parameters, "0.1" if definition.at_recall else "10")
    if not definition.has_cutoff and not definition.at_recall and cutoff is not None:
        without = family.notation(parts.parameters)
        return InputError("measure", f"{definition.name} has no cut-off; write {without} instead of {text!r}")
    if cutoff is None and family.needs_cutoff:
        return InputError("measure", f"{text!r} needs a cut-off; write for example {example}")
    if cutoff == "":
        return InputError("measure", f"{text!r} has nothing after the @; write for example {example}")
    if definition.name == "RBP" and re.fullmatch(r"0?\.\d+", cutoff or "", re.ASCII):
        settings = ",".join(filter(None, (f"p={float(cutoff or 0)}", parts.parameters)))
        return InputError("measure", f"unknown measure {text!r}; did you mean {family.notation(settings)}?")
    if not is_cutoff(definition, cutoff):
        expected = "a recall from 0 to 1" if definition.at_recall else "a whole number of at least 1"
        thousands = _THOUSANDS.fullmatch(cutoff or "")
        written = f"write {family.notation(parts.parameters, f'{thousands[1]}000')}" if thousands else ""
        problem = f"expected {expected}, found {cutoff!r}; {written or f'write for example {example}'}"
        return InputError(f"cut-off of measure {text!r}", problem, expected, repr(cutoff), argument="measure")
    return None


def _suggestions(parts: _Parts, is_measure: Callable[[str], bool]) -> Iterator[str]:
    """Yield measures that the text may mean, with its cut-off and parameters where these fit; the likeliest first."""
    for family in _alike(parts.name):
        cutoff = parts.cutoff if parts.cutoff and is_cutoff(family.definition, parts.cutoff) else None
        attempts = ((parts.parameters, cutoff), ("", cutoff), ("", None))
        yield next(filter(is_measure, (family.notation(*attempt) for attempt in attempts)))


def _alike(name: str) -> list[Family]:
    """Return the measures with similar names. For a name that ends in a known one, such as cosine_ndcg, return that."""
    words = re.split(r"[_\W]+", name)
    for i in range(len(words)):
        ending = family_of("_".join(words[i:]))
        if ending is not None:
            return [ending]
    wanted = key(name)
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    alike: dict[Family, float] = {}
    for known, family in families().items():
        matcher.set_seq1(known)
        alike[family] = max(alike.get(family, 0.0), matcher.ratio())
    best = max(alike.values())
    least = max(_LEAST_ALIKE, best - 0.05)
    return sorted((family for family, ratio in alike.items() if ratio >= least), key=lambda family: -alike[family])
