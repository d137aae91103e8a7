"""Error messages for texts that name no measure. Where the meaning can be guessed, they show what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from tieaware.errors import InputError
from tieaware.measures.registry import DEFINITIONS
from tieaware.measures.spellings import ONLY_IN_NOTATION, Family, families, family_of, is_cutoff, key
from tieaware.measures.wrong_notation import cutoff_in_brackets

_OBJECTIVE = "it is a training objective"
_CURVE = "the measure of precision over all recalls is AP"
_COMPARES = "it compares two rankings, and"
_RANK = "MeanRank is the rank of the first relevant document"

# Names that belong to no measure of tieaware, by key, and what to say about them.
_ELSEWHERE = {
    "and": "separate measures by commas or spaces",
    "arhr": "with one relevant item for each user, it is RR",
    **dict.fromkeys(("kendall", "kendalltau", "tau"), f"{_COMPARES} tieaware.statistics.kendall_tau computes it"),
    **dict.fromkeys(("tauap", "apcorrelation"), f"{_COMPARES} tieaware.statistics.tau_ap computes it"),
    **dict.fromkeys(("rbo", "rankbiasedoverlap"), f"{_COMPARES} tieaware.statistics.rbo computes it"),
    **dict.fromkeys(("spearman", "spearmanr", "spearmanrho"), f"{_COMPARES} scipy.stats.spearmanr computes it"),
    **dict.fromkeys(("pearson", "pearsonr"), f"{_COMPARES} scipy.stats.pearsonr computes it"),
    **dict.fromkeys(("rank", "firstrank", "averagerank"), _RANK),
    **dict.fromkeys(("aucpr", "prauc", "auprc"), _CURVE),
    **dict.fromkeys(("lambdarank", "rankxendcg", "rank:ndcg"), f"{_OBJECTIVE}, and optimises nDCG"),
    **dict.fromkeys(("rank:map", "rank:pairwise"), _OBJECTIVE),
}
# Names, by key, that mean a measure although they are spelled differently from all of its names.
_MEANT = {
    **dict.fromkeys(("ndcgexp", "expndcg", "ndcgexponential", "exponentialndcg"), "nDCG(dcg='exp-log2')"),
    **dict.fromkeys(("dcgexp", "expdcg", "dcgexponential", "exponentialdcg"), "DCG(dcg='exp-log2')"),
    **dict.fromkeys(("ndcglinear", "linearndcg"), "nDCG"),
    **dict.fromkeys(("lrap", "labelrankingaverageprecision"), "AP"),
    "inverseharmonicmeanrank": "RR",
    "qmeasure": "Q",
    "omeasure": "O",
    "p+": "PPlus",
    "roc": "AUC",
    "s": "Success",
}
# Names, by key, of other things, which are spelled like measures that mean something else.
_UNLIKE = {
    "adjustedarithmeticmeanrankindex", "all", "alltrec", "amri", "cg", "default", "idcg", "infndcg", "loss", "mae",
    "medianrank", "metrics", "mse", "ncg", "nugget", "official", "retrievalrecallatfixedprecision", "rmse",
    "sndcg", "statap", "trec", "treceval", "xinfap",
}  # fmt: skip
# Cut-offs that stand for the whole list.
_NO_CUTOFF = {"all", "full", "inf", "infinity", "none", "max", "whole", "*"}
_ACCURACY = re.compile(r"(?:.*?[_-])??(?:top[_-]?(?P<k>\d+|k)?[_-]?)?acc(?:uracy)?(?:[_-]?score)?", re.IGNORECASE)
# F3, f1.5 and f05: the digits may be beta. A larger number, as in F10, is rather a cut-off.
_F = re.compile(r"f[_-]?(?P<beta>[1-9]|0[1-9]|\d?\.\d{0,9}[1-9])", re.IGNORECASE | re.ASCII)
# ranx's -l2 sets the smallest relevant label, so with it hits@10 is the count of ranx.
_HITS = re.compile(r"hits(?:@(?P<cutoff>\d+))?(?:-l(?P<label>\d+))?", re.IGNORECASE)
_CUTOFF = re.compile(r"(?P<name>[^@]*?)(?:@|(?:[_-]at[_-]))\s*+(?P<cutoff>.*)", re.IGNORECASE)
# map_rel2 and AP rel=2.
_REL = re.compile(r"(?P<name>[^@]+?)[ _-]rel[=_]?(?P<label>\d{1,9})(?:@(?P<cutoff>\d+))?", re.I | re.ASCII)
# rbp95, rbp0.95 and rbp_p95; without the point and the p, the digits may be a cut-off.
_RBP = re.compile(r"rbp[_-]?(?P<mark>p?[_=]?(?:0?\.)?)(?P<decimals>\d{1,9})", re.I | re.ASCII)
_THOUSANDS = re.compile(r"(\d{1,9})k", re.IGNORECASE | re.ASCII)
_FRACTION = re.compile(r"0?\.\d+", re.ASCII)
_WHOLE = re.compile(r"(\d{1,9})\.0+", re.ASCII)
_BETWEEN_WORDS = re.compile(r"[_\W]+")

# Names are alike if this share of their letters is in common, in the same order.
_LEAST_ALIKE = 0.6
# Short names have much in common by chance.
_SHORT, _LEAST_ALIKE_IF_SHORT = 3, 0.7
_MOST_SUGGESTIONS = 2

# The measures that an error lists if no name is similar: all of them would make it unreadable.
LISTED = "AP, RR, nDCG, P, R, F1, RBP, ERR, Success, Bpref, Q … (tieaware.measures.DEFINITIONS has all)"


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
    if text.isdecimal():
        return InputError("measure", f"{text!r} is a number; write a cut-off after its measure, as in nDCG@10")
    parts = _split(text)
    in_notation = parts.name == ONLY_IN_NOTATION and "@" in text
    family = Family(DEFINITIONS[ONLY_IN_NOTATION]) if in_notation else family_of(parts.name)
    error = (
        (None if in_notation else _two_meanings(text, parts))
        or cutoff_in_brackets(text, is_measure)
        or (family and _wrong_cutoff(text, parts, family, is_measure))
        or _number_after_f(text, parts)
        or _number_in_name(text, is_measure)
    )
    if error:
        return error
    right = family.notation(parts.parameters, parts.cutoff) if family else ""
    if right and is_measure(right):
        if text.endswith(")"):
            return InputError("measure", f"{text!r} has its parameters after the cut-off; write {right}")
        return InputError("measure", f"unknown measure {text!r}; did you mean {right}?")
    if "(" in text and ")" not in text and is_measure(f"{text})"):
        return InputError("measure", f"{text!r} lacks a bracket; write {text})")
    if family is not None or family_of(parts.name.partition("(")[0]) is not None:
        return InputError("measure", f"{text!r} is not of the form name(parameter=value)@cutoff, as in 'AP(rel=2)@100'")
    instead = _ELSEWHERE.get(key(parts.name))
    if instead is not None:
        return InputError("measure", f"unknown measure {text!r}; {instead}")
    near = list(dict.fromkeys(_suggestions(parts, is_measure)))[:_MOST_SUGGESTIONS]
    hint = f"did you mean {' or '.join(near)}?" if near else f"the measures are {LISTED}"
    return InputError("measure", f"unknown measure {text!r}; {hint}")


def _split(text: str) -> _Parts:
    """Split a text into name, parameters and cut-off, wherever the parameters are."""
    text, parameters = _without_parameters(text)
    text = text.strip("'\"` ")
    found = _CUTOFF.fullmatch(text)
    if found:
        return _Parts(found["name"].rstrip(), parameters, found["cutoff"].removesuffix("-"))
    return _without_mark(text, parameters)


def _without_parameters(text: str) -> tuple[str, str]:
    """Return a text without what is between its first ( and its last ), and what is between them."""
    opening, closing = text.find("("), text.rfind(")")
    if not 0 <= opening < closing:
        return text, ""
    return text[:opening] + text[closing + 1 :], text[opening + 1 : closing]


def _without_mark(text: str, parameters: str) -> _Parts:
    """Split a text that may end in its cut-off without a mark, such as P10."""
    name = text.rstrip("0123456789")
    # In f110, the first digit belongs to the name: take the longest known name.
    splits = [i for i in range(len(name), len(text)) if text[i] != "0"]
    stems = {i: text[:i].rstrip("_.:=- ") for i in splits}
    known = [i for i in splits if family_of(stems[i]) is not None]
    if family_of(text) is not None or not splits:
        return _Parts(text, parameters, None)
    i = known[-1] if known else splits[0]
    return _Parts(stems[i], parameters, text[i:])


def _two_meanings(text: str, parts: _Parts) -> InputError | None:
    """Return the error for a name that means different measures in different tools."""
    accuracy = _ACCURACY.fullmatch(parts.name)
    if accuracy is not None:
        cutoff = next((k for k in (parts.cutoff, accuracy["k"]) if k and k.isdecimal()), "k")
        known = None if cutoff == "k" else cutoff
        success = Family(DEFINITIONS["Success"]).notation(parts.parameters, cutoff)
        auc, share = (Family(DEFINITIONS[name]).notation(parts.parameters, known) for name in ("AUC", "Accuracy"))
        others = f"{success} as in beir, mteb and sentence-transformers, or {auc} as in ir_measures"
        ours = f"{share} for the share of documents that are classified correctly, {others}"
        return InputError("measure", f"{text!r} has several meanings; write {ours}")
    hits = _HITS.fullmatch(text.partition("(")[0])
    if hits is not None and (hits["label"] or parts.cutoff is None):
        settings = f"rel={hits['label']}" if hits["label"] else parts.parameters
        count = Family(DEFINITIONS["NumRelRet"]).notation(settings)
        share = Family(DEFINITIONS["Hits"]).notation(settings, hits["cutoff"] or "k")
        ours = f"{count} for the number of hits, as in ranx, or {share} for the hit rate"
        return InputError("measure", f"{text!r} has two meanings; write {ours}")
    return None


def _number_after_f(text: str, parts: _Parts) -> InputError | None:
    """Return the error for F with a number, such as F3@10 or F3, unless it is a known name, such as F2."""
    stem, at, cutoff = _without_parameters(text)[0].partition("@")
    found = _F.fullmatch(stem.strip())
    cutoff = cutoff.strip()
    if found is None or family_of(stem) is not None or (cutoff and not is_cutoff(DEFINITIONS["F"], cutoff)):
        return None
    digits = found["beta"]
    beta = float(f"0.{digits[1]}" if digits.isdecimal() and len(digits) == 2 else digits)
    right = Family(DEFINITIONS["F"], f"beta={beta}").notation(parts.parameters, cutoff or None)
    name, _, rank = digits.rpartition(".")
    if at or digits.startswith("0"):
        return InputError("measure", f"unknown measure {text!r}; did you mean {right}?")
    other = (family_of(f"f{name}") or Family(DEFINITIONS["F"])).notation(parts.parameters, rank)
    return InputError("measure", f"{text!r} has two meanings; write {right} or {other}")


def _number_in_name(text: str, is_measure: Callable[[str], bool]) -> InputError | None:
    """Return the error for a name that contains the value of a parameter, such as map_rel2 or rbp_p95."""
    near: list[str] = []
    if (found := _REL.fullmatch(text)) and (family := family_of(found["name"].rstrip(" _-"))):
        near = [family.notation(f"rel={found['label']}", found["cutoff"])]
    elif found := _RBP.fullmatch(text):
        near = [f"RBP(p=0.{found['decimals']})", *([] if found["mark"] else [f"RBP@{found['decimals']}"])]
    near = list(filter(is_measure, near))
    return InputError("measure", f"unknown measure {text!r}; did you mean {' or '.join(near)}?") if near else None


def _wrong_cutoff(text: str, parts: _Parts, family: Family, is_measure: Callable[[str], bool]) -> InputError | None:
    """Return the error for a known name with a wrong cut-off, or without one that it needs."""
    definition, cutoff = family.definition, parts.cutoff
    example = family.notation(parts.parameters, "0.1" if definition.at_recall else "10")
    if not definition.has_cutoff and not definition.at_recall and cutoff is not None:
        without = family.notation(parts.parameters)
        without = without if is_measure(without) else family.notation()
        return InputError("measure", f"{definition.name} has no cut-off; write {without} instead of {text!r}")
    if cutoff and cutoff.lower() in _NO_CUTOFF and is_measure(whole := family.notation(parts.parameters)):
        return InputError("measure", f"{text!r} needs no cut-off; write {whole} for the whole list")
    if cutoff is None and family.needs_cutoff:
        return InputError("measure", f"{text!r} needs a cut-off; write for example {example}")
    if cutoff == "":
        return InputError("measure", f"{text!r} has nothing after the @; write for example {example}")
    if definition.name == "RBP" and _FRACTION.fullmatch(cutoff or ""):
        settings = ",".join(filter(None, (f"p={float(cutoff or 0)}", parts.parameters)))
        return InputError("measure", f"unknown measure {text!r}; did you mean {family.notation(settings)}?")
    if not is_cutoff(definition, cutoff):
        expected = "a recall from 0 to 1" if definition.at_recall else "a whole number of at least 1"
        whole_number = _WHOLE.fullmatch(cutoff or "")
        thousands = _THOUSANDS.fullmatch(cutoff or "")
        meant = whole_number[1] if whole_number else f"{thousands[1]}000" if thousands else ""
        right = family.notation(parts.parameters, meant)
        written = f"write {right}" if meant and is_measure(right) else ""
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
    words = _BETWEEN_WORDS.split(name)
    wanted = key("".join(words))
    without_prefix = wanted.removeprefix("retrieval").removesuffix("score")
    meant = _MEANT.get(wanted, _MEANT.get(without_prefix))
    if meant is not None:
        family_name, _, settings = meant.removesuffix(")").partition("(")
        return [Family(DEFINITIONS[family_name], settings)]
    if wanted in _UNLIKE:
        return []
    for i in range(len(words)):
        beginning, ending = family_of("_".join(words[:i])), family_of("_".join(words[i:]))
        if ending is not None:
            return [ending] if beginning is None else [beginning, ending]
    wanted = key(name)
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    alike: dict[Family, float] = {}
    for known, family in families().items():
        matcher.set_seq1(known)
        alike[family] = max(alike.get(family, 0.0), matcher.ratio())
    best = max(alike.values())
    least = max(_LEAST_ALIKE_IF_SHORT if len(wanted) <= _SHORT else _LEAST_ALIKE, best - 0.05)
    return sorted((family for family, ratio in alike.items() if ratio >= least), key=lambda family: -alike[family])
