"""The names of trec_eval's measures: in its order, with default parameters, and its nicknames for several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tieaware.checks.arguments import did_you_mean, unexpected

_RANKS = "5,10,15,20,30,100,200,500,1000"
_RECALLS = "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"


class Family(NamedTuple):
    """A name of trec_eval, for one measure or for one with several parameters.

    Parameters
    ----------
    name : str
    parameters : str
        What may follow the name after a dot: "none" (and is ignored), "ranks" or "fractions" (a line for each),
        "numbers" (one line), or "pairs" (one line, as in ``ndcg.1=3,2=9``).
    defaults : str
        The parameters, where none are given.
    """

    name: str
    parameters: str = "none"
    defaults: str = ""


# In the order in which trec_eval 10 prints them.
MEASURES = {
    family.name: family
    for family in (
        Family("runid"), Family("num_q"), Family("num_ret"), Family("num_rel"), Family("num_rel_ret"), Family("map"),
        Family("gm_map"), Family("Rprec"), Family("bpref"), Family("recip_rank"),
        Family("iprec_at_recall", "fractions", _RECALLS), Family("P", "ranks", _RANKS),
        Family("relstring", "numbers", "10"), Family("recall", "ranks", _RANKS), Family("infAP"), Family("gm_bpref"),
        Family("Rprec_mult", "fractions", "0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0"),
        Family("utility", "numbers", "1,-1,0,0"), Family("11pt_avg", "numbers", _RECALLS), Family("binG"),
        Family("G", "pairs"), Family("ndcg", "pairs"), Family("ndcg_rel", "pairs"), Family("Rndcg", "pairs"),
        Family("ndcg_cut", "ranks", _RANKS), Family("map_cut", "ranks", _RANKS), Family("relative_P", "ranks", _RANKS),
        Family("success", "ranks", "1,5,10"), Family("set_P"), Family("set_relative_P"), Family("set_recall"),
        Family("set_map"), Family("set_F", "numbers", "1.0"), Family("num_nonrel_judged_ret"), Family("rbp", "pairs"),
        Family("rbp_resid", "pairs"), Family("unj", "ranks", "5,10,20"),
    )
}  # fmt: skip

_OFFICIAL = (
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P",
)  # fmt: skip
NICKNAMES = {
    "official": _OFFICIAL,
    "set": (
        "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall", "set_relative_P",
        "set_map", "set_F",
    ),
    "all_trec": tuple(MEASURES),
}  # fmt: skip

# Nicknames for what trec_eval computes from preferences, or from judgments of several people, which are not read here.
_PREFERENCES = (
    "runid", "num_q", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp",
    "prefs_pair", "prefs_avgjg",
)  # fmt: skip
OF_OTHER_INPUT = {
    "prefs": _PREFERENCES,
    "all_prefs": (
        *_PREFERENCES, "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret",
        "prefs_avgjg_Rnonrel_ret", "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp",
    ),
    "qrels_jg": ("runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}  # fmt: skip


class Request(NamedTuple):
    """A family that was asked for, with its parameters as they were written; empty for the defaults."""

    family: Family
    written: str = ""

    @property
    def parameters(self) -> str:
        """The parameters, as written or as they are by default."""
        return self.written or self.family.defaults

    def ranks(self) -> list[int]:
        """Return the parameters as cut-offs, ascending; of a number with decimals the whole part, as trec_eval does."""
        ranks = sorted(int(number) for number in self.numbers())
        if ranks[0] < 1 or len(set(ranks)) < len(ranks):
            raise unexpected(self._where, "ranks from 1, each once", repr(self.parameters))
        return ranks

    def fractions(self) -> list[float]:
        """Return the parameters as fractions, ascending."""
        fractions = sorted(self.numbers())
        if len(set(fractions)) < len(fractions):
            raise unexpected(self._where, "numbers, each once", repr(self.parameters))
        return fractions

    def numbers(self) -> list[float]:
        """Return the parameters as numbers, in their order."""
        try:
            numbers = [float(part) for part in self.parameters.split(",")]
        except ValueError:
            numbers = []
        if not numbers or not all(abs(number) < 1e15 for number in numbers):
            raise unexpected(self._where, "numbers with commas between them", repr(self.parameters))
        return numbers

    def pairs(self) -> dict[str, float]:
        """Return the parameters as numbers by name."""
        if not self.parameters:
            return {}
        try:
            named = [part.split("=") for part in self.parameters.split(",")]
            return {name: float(value) for name, value in named}
        except ValueError:
            raise unexpected(self._where, "name=number, with commas between them", repr(self.parameters)) from None

    @property
    def _where(self) -> str:
        return f"parameters of measure {self.family.name!r}"


def requests(texts: Iterable[str]) -> list[Request]:
    """Read measures as trec_eval's option -m takes them, each ``name``, ``name.parameters``, or a nickname.

    Parameters
    ----------
    texts : iterable of str

    Returns
    -------
    list of Request
        In trec_eval's order, each family once; of several parameters for a family, the first count.

    Raises
    ------
    InputError
        If a name is none of trec_eval's, or stands for what needs another input than judgments and a run.
    """
    asked: dict[str, str] = {}
    for text in texts:
        name, _, written = text.partition(".")
        if name not in NICKNAMES and name not in MEASURES:
            if name in OF_OTHER_INPUT or any(name in names for names in OF_OTHER_INPUT.values()):
                raise unexpected("measure", "one of judgments and a run", f"{name!r}, which is of other files")
            hint = did_you_mean(name, [*NICKNAMES, *MEASURES]) or f"; there are {', '.join([*NICKNAMES, *MEASURES])}"
            raise unexpected("measure", "one of trec_eval's", f"{text!r}{hint}")
        for each in NICKNAMES.get(name, (name,)):
            asked[each] = asked.get(each) or (written if each == name else "")
    return [Request(family, asked[name]) for name, family in MEASURES.items() if name in asked]
