"""The names of trec_eval's measures, with default parameters, and the nicknames that stand for several measures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from tieaware.checks.arguments import did_you_mean
from tieaware.errors import InputError
from tieaware.inputs.files.text import number_in

_RANKS = "5,10,15,20,30,100,200,500,1000"
_RECALLS = "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"

# Parameters of at least this size, infinity and NaN are errors.
_LIMIT = 1e15

# The default of the parameter p of the measures rbp and rbp_resid.
PATIENCE = 0.9

# For a geometric mean, trec_eval replaces each smaller value by this one, so that its logarithm exists. The kernel in
# ext/engine/_means.pxd, which computes geometric means, has the same constant.
SMALLEST = 0.00001


class Family(NamedTuple):
    """A name that trec_eval knows, with the form and the defaults of the parameters that may follow it.

    Parameters
    ----------
    name : str
    parameters : str
        The form of the parameters that may follow the name after a dot: "none" (parameters are ignored), "ranks"
        or "fractions" (each parameter gives a line), "numbers" (all together give one line), or "pairs" (all together
        give one line, as in ``ndcg.1=3,2=9``).
    defaults : str
        The parameters to use if none are given.
    """

    name: str
    parameters: str = "none"
    defaults: str = ""

    @property
    def takes_parameters(self) -> bool:
        """True if parameters may follow the name."""
        return self.parameters != "none"

    @property
    def has_line_per_parameter(self) -> bool:
        """True if trec_eval prints a line of its own for each parameter."""
        return self.parameters in ("ranks", "fractions")


# The families in the order in which trec_eval 10 prints them.
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

# trec_eval computes the measures of these nicknames from preferences, or from the judgments of several assessors.
# tieaware reads neither of these file formats.
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

# The parameter of a line: a rank, a fraction, several numbers, or numbers by name.
LineParameter = int | float | list[float] | dict[str, float] | None


class Request(NamedTuple):
    """A family that a user asks for, with the parameters as the user wrote them; an empty text means the defaults."""

    family: Family
    written: str = ""

    @property
    def parameters(self) -> str:
        """The parameters as written, or the defaults."""
        return self.written or self.family.defaults

    def by_line(self) -> list[tuple[str, LineParameter]]:
        """Return the name and the parameter of each line that trec_eval prints for the request."""
        name, kind = self.family.name, self.family.parameters
        if kind == "ranks":
            return [(f"{name}_{k}", k) for k in self.ranks()]
        if kind == "fractions":
            return [(f"{name}_{x:.2f}", x) for x in self.fractions()]
        if kind == "none":
            return [(name, None)]
        named = f"{name}_{self.written}" if self.written else name
        return [(named, self.pairs() if kind == "pairs" else self.numbers())]

    def ranks(self) -> list[int]:
        """Return the parameters as cut-offs, ascending; 5.7 becomes 5, as in trec_eval."""
        ranks = sorted(int(number) for number in self.numbers())
        if ranks[0] < 1 or len(set(ranks)) < len(ranks):
            raise self._error("must be ranks of at least 1, none of them twice")
        return ranks

    def fractions(self) -> list[float]:
        """Return the parameters as fractions, ascending."""
        fractions = sorted(self.numbers())
        if len(set(fractions)) < len(fractions):
            raise self._error("must be numbers, none of them twice")
        return fractions

    def numbers(self) -> list[float]:
        """Return the parameters as numbers, in the order in which they are written."""
        try:
            numbers = [number_in(number) for number in self.parameters.split(",")]
        except ValueError:
            numbers = []
        if not numbers or not all(abs(number) < _LIMIT for number in numbers):
            raise self._error("must be numbers with commas between them")
        return numbers

    def pairs(self) -> dict[str, float]:
        """Return the parameters, such as "1=3,2=9", as a dict of numbers by name."""
        if not self.parameters:
            return {}
        try:
            named = [pair.split("=") for pair in self.parameters.split(",")]
            pairs = {name: number_in(value) for name, value in named}
        except ValueError:
            pairs = {"": math.nan}
        if not all(abs(value) < _LIMIT for value in pairs.values()):
            raise self._error("must have the form name=number, with commas between them")
        return pairs

    def _error(self, problem: str) -> InputError:
        return InputError(f"parameters of measure {self.family.name!r}", f"{problem}; found {self.parameters!r}")


def requests(texts: Iterable[str]) -> list[Request]:
    """Read measures in the form of trec_eval's option -m: ``name``, ``name.parameters`` or a nickname.

    Parameters
    ----------
    texts : iterable of str

    Returns
    -------
    list of Request
        In trec_eval's order, each family once. If the parameters of a family are given several times, the first ones
        count.

    Raises
    ------
    InputError
        If trec_eval has no such name, or the measure needs other input than judgments and a run.
    """
    asked: dict[str, str] = {}
    for text in texts:
        name, _, written = text.partition(".")
        if name not in NICKNAMES and name not in MEASURES:
            raise _unknown(text, name)
        for each in NICKNAMES.get(name, (name,)):
            asked[each] = asked.get(each) or (written if each == name else "")
    return [Request(family, asked[name]) for name, family in MEASURES.items() if name in asked]


def _unknown(text: str, name: str) -> InputError:
    """Return the error for a name that is not in NICKNAMES or MEASURES."""
    if name in OF_OTHER_INPUT or any(name in names for names in OF_OTHER_INPUT.values()):
        return InputError("measure", f"{name!r} needs other input than judgments and a run")
    known = [*NICKNAMES, *MEASURES]
    hint = did_you_mean(name, known) or f"; the measures of trec_eval are {', '.join(known)}"
    return InputError("measure", f"unknown measure {text!r}{hint}")
