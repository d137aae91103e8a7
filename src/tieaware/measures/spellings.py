"""Names of measures in other tools, such as ndcg_at_10 in mteb, and their translation into tieaware's notation."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tieaware.measures.definition import DEFINITIONS, Definition

# The names in other tools, by measure. docs/measures.md lists the same names. Upper and
# lower case, hyphens and underscores do not matter: r_precision is also RPrecision and r-precision.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "P": ("precision", "pre", "prec"),
    "R": ("recall", "sensitivity", "true_positive_rate"),
    "Recall_cap": ("r_cap", "capped_recall"),
    "F1": ("f1_score",),
    "F": ("f_beta", "f_measure"),
    "F(beta=0.5)": ("f0.5",),
    "F(beta=2.0)": ("f2",),
    "MaxF": ("f_max", "max_f1", "best_f1"),
    "Specificity": ("true_negative_rate",),
    "FallOut": ("false_positive_rate",),
    "AP": ("map", "average_precision", "mean_average_precision", "avg_precision", "avg_prec"),
    "AP_cap": ("mapk", "capped_ap"),
    "GMAP": ("geometric_map",),
    "RR": ("mrr", "reciprocal_rank", "mean_reciprocal_rank"),
    "nDCG": ("normalized_dcg", "normalized_discounted_cumulative_gain", "normalised_discounted_cumulative_gain"),
    "nDCG(dcg='exp-log2')": ("ndcg_burges",),
    "DCG": ("discounted_cumulative_gain",),
    "DCG(dcg='exp-log2')": ("dcg_burges",),
    "RBP": ("rank_biased_precision",),
    "ERR": ("expected_reciprocal_rank",),
    "Success": ("success",),
    "Hits": ("hits", "hit", "hit_rate", "hit_ratio", "hr"),
    "Rprec": ("r_precision", "r_prec"),
    "Bpref": ("binary_preference",),
    "IPrec": ("interpolated_precision",),
    "AUC": ("roc_auc", "auc_roc", "auroc"),
    "ESL": ("expected_search_length",),
    "MeanRank": ("mr", "arithmetic_mean_rank", "avg_rank"),
    "SetP(relative=True)": ("SetRelP",),
}

# Names that mean one measure with a cut-off and another one without. In ranx, hits is the number of relevant documents.
AMBIGUOUS_WITHOUT_CUTOFF = "hits"

# The name is known in the notation only, with a capital, because other tools give it to Success and to AUC.
ONLY_IN_NOTATION = "Accuracy"

# In F_3, F.5 and F1.5, the number may be beta or the cut-off.
_BETA_OR_CUTOFF = {"f": ("_", "."), "f1": (".",), "f2": (".",)}

# XGBoost writes ndcg@10- and map@10- if queries without relevant documents have the value 0, as they do here.
_WITH_HYPHEN = ("AP", "nDCG")

# A name in the form of some tool: ndcg@10, NDCG_10, ndcg_at_10, ndcgAt10, and trec_eval's ndcg_cut.10. In ranx, -l2
# is the smallest relevant label, and the digits of rbp.95 are the decimals of p.
_FORM = re.compile(
    r"(?P<name>f[_-]?0\.5(?:[_-]?score)?|\w[\w-]*?)\s*+(?:\((?P<parameters>.*)\)\s*+)?"
    r"(?:(?P<mark>@|\.|[_-]at[_-]|at|_)\s*+(?P<cutoff>\d{1,19}(?:\.\d{1,17})?))?"
    r"(?:-l(?P<label>\d{1,10})|(?P<hyphen>-))?",
    re.ASCII | re.IGNORECASE,
)
_RECALL = re.compile(r"\d+(\.\d{1,30})?(e-\d{1,3})?", re.ASCII)
_RANK = re.compile(r"\d{1,19}", re.ASCII)


class Family(NamedTuple):
    """A measure without its cut-off, as some tool names it.

    `settings` are the values of parameters that the name stands for, such as "dcg='exp-log2'". `needs_cutoff` is True
    for names that have no meaning without a cut-off, such as trec_eval's ndcg_cut.
    """

    definition: Definition
    settings: str = ""
    needs_cutoff: bool = False

    def notation(self, parameters: str = "", cutoff: str | None = None) -> str:
        """Return the measure in tieaware's notation, with further parameters and a cut-off.

        Examples
        --------
        >>> Family(DEFINITIONS["DCG"], "dcg='exp-log2'").notation("judged_only=True", "10")
        "DCG(dcg='exp-log2',judged_only=True)@10"
        """
        settings = ",".join(filter(None, (self.settings, parameters)))
        return self.definition.name + (f"({settings})" if settings else "") + ("" if cutoff is None else f"@{cutoff}")


def respelled(text: str) -> str | None:
    """Translate the name of a measure in another tool into tieaware's notation; return None if it has no clear meaning.

    Examples
    --------
    >>> respelled("ndcg_at_10"), respelled("r-precision"), respelled("rbp.95"), respelled("map@100-l2")
    ('nDCG@10', 'Rprec', 'RBP(p=0.95)', 'AP(rel=2)@100')
    """
    # Look the whole text up first, because a name may end in a number, such as f_1.
    whole = family_of(text)
    if whole is not None:
        ambiguous = key(text) == AMBIGUOUS_WITHOUT_CUTOFF
        return None if ambiguous or whole.needs_cutoff else whole.notation()
    form = _FORM.fullmatch(text)
    family = form and family_of(form["name"])
    if not form or not family or (form["hyphen"] and family.definition.name not in _WITH_HYPHEN):
        return None
    settings, cutoff = [form["parameters"] or ""], form["cutoff"]
    if form["label"]:
        settings.append(f"rel={form['label']}")
    if cutoff and form["mark"] == "." and family.definition.name == "RBP":
        settings.append(f"p=0.{cutoff}")
        cutoff = None
    elif not is_cutoff(family.definition, cutoff):
        return None
    # With -l2, the name is one of ranx, in which hits@10 is a count.
    name = key(form["name"])
    if form["mark"] in _BETA_OR_CUTOFF.get(name, ()):
        return None
    if name == AMBIGUOUS_WITHOUT_CUTOFF and (cutoff is None or form["label"]):
        return None
    if cutoff is None and family.needs_cutoff:
        return None
    return family.notation(",".join(filter(None, settings)), cutoff)


def is_cutoff(definition: Definition, text: str | None) -> bool:
    """Return whether a text is a cut-off (or a recall) that a measure can have; None is no cut-off, which is valid."""
    if text is None:
        return True
    if definition.at_recall:
        return _RECALL.fullmatch(text) is not None
    return _RANK.fullmatch(text) is not None and int(text) > 0


def key(name: str) -> str:
    """Return a name without hyphens, underscores and capitals; two names are the same if their keys are."""
    return name.lower().replace("_", "").replace("-", "")


def family_of(name: str) -> Family | None:
    """Return the measure that a name without a cut-off means in any tool; None if the name is unknown."""
    if name != name.strip("_-"):
        return None
    known, wanted = families(), key(name)
    # torchmetrics writes RetrievalMAP and retrieval_hit_rate; scikit-learn writes ndcg_score.
    without_prefix = wanted.removeprefix("retrieval")
    for candidate in (wanted, without_prefix, without_prefix.removesuffix("score")):
        if candidate in known:
            return known[candidate]
    return None


@lru_cache(maxsize=1)
def families() -> dict[str, Family]:
    """Return what each known name means, by the key of the name."""
    known = {}
    for definition in DEFINITIONS.values():
        if definition.trec_name_with_cutoff is not None:
            known[key(definition.trec_name_with_cutoff)] = Family(definition, needs_cutoff=True)
        for trec_name, values in definition.trec_names_with_parameters.items():
            known[key(trec_name)] = Family(definition, ",".join(f"{name}={value!r}" for name, value in values.items()))
    # Names that need a cut-off in trec_eval come first, because recall and success do not need one in other tools.
    for notation, names in SPELLINGS.items():
        name, _, settings = notation.removesuffix(")").partition("(")
        known |= dict.fromkeys(map(key, names), Family(DEFINITIONS[name], settings))
    for definition in DEFINITIONS.values():
        if definition.name == ONLY_IN_NOTATION:
            continue
        own = filter(None, (definition.name, *definition.aliases, definition.trec_name))
        known |= dict.fromkeys(map(key, own), Family(definition))
    return known
