"""The protocol of coarsenings, the base class of tieaware's own coarsenings, and the parser of their notation."""

from __future__ import annotations

import re
from typing import ClassVar, Protocol, Self, runtime_checkable

from tieaware.checks.arguments import did_you_mean, shown, unexpected
from tieaware.checks.arrays import Offsets, Scores, as_scores, check_no_nan
from tieaware.errors import InputError
from tieaware.kernels import _coarsening

# A whole number with more digits than this is an error. No precision takes such a large number.
_MOST_DIGITS = 17

# Formats of quantised embeddings and weights, as sentence-transformers, llama.cpp and others write them. The bits of a
# format give the number of levels that comes nearest to it.
_EMBEDDING_FORMAT = re.compile(r"u?int(?P<bits>16|[1248])(?:_t)?|q(?P<block_bits>[2-8])(?:_\w+)?|nf4|u?binary|bool|bit")
# Floats of four and eight bits, and the names of no rounding at all, such as NumPy's of double precision.
_SMALL_FLOAT = re.compile(r"(?:mx|nv)?(?:float|fp|f)(?P<bits>[48])(?P<variant>_?e[2345]m[1234]\w*)?")
_USUAL_VARIANT = {"4": "e2m1fn", "8": "e4m3fn"}
_EXACT = ("float64", "fp64", "f64", "double", "none", "exact")
# The libraries in whose names of types the name of a precision follows a point.
_LIBRARY = re.compile(r"(?:torch|np|numpy|jnp|ml_dtypes|tf)\.")
# decimals=2, decimals(2), decimals-2, and float16 without a number.
_OTHER_NOTATION = re.compile(
    r"(?P<name>[a-z_]\w{0,40}?)\s*+(?:[:=(_-]?\s*+(?P<number>\d[\d.e,-]*+)\)?)?", re.ASCII
)
_DIGIT = re.compile(r"\d", re.ASCII)
_FRACTION = re.compile(r"0?\.\d+|\d(?:\.\d+)?e-\d+", re.ASCII)
_POWER_OF_TEN = re.compile(r"0?\.(0*1)", re.ASCII)
# Other names of precisions.
_MEANT = {
    "brain": "bfloat16", "half": "float16", "single": "float32", "brainfloat": "bfloat16", "brainfloat16": "bfloat16",
    "round": "decimals", "decimal": "decimals", "rounding": "decimals",
    **dict.fromkeys(("atol", "tol", "tolerance", "eps", "epsilon", "delta"), "gap"),
    **dict.fromkeys(("bins", "buckets", "steps", "level"), "levels"),
}  # fmt: skip


@runtime_checkable
class Coarsening(Protocol):
    """A way to make scores coarser. ``precision=`` accepts any object that has this method.

    A class whose coarse scores depend on the whole list, instead of on each score alone, should also have the attribute
    ``whole_list = True``. tieaware then refuses the class for measures that remove unjudged documents from the list.
    """

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Coarsen the scores of several lists.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            The scores, without NaN. List i has the scores ``scores[offsets[i]:offsets[i + 1]]``.
        offsets : int64[n_lists + 1]
            The position of the first score of each list, followed by the total number of scores.

        Returns
        -------
        float64[n_docs] or float32[n_docs]
            The coarse scores, in the same order. A score that is lower than another one must not become higher than it.
            Infinite scores stay infinite, and scores that are too large for a format become infinite.
        """


def coarsened(coarsening: Coarsening, scores: Scores, offsets: Offsets) -> Scores:
    """Return what `Coarsening.coarsen` returns, checked, because the coarsening may be a class of the caller.

    Raises
    ------
    InputError
        The coarse scores have another shape, contain NaN or are not numbers.
    """
    where = f"precision={coarsening}"
    coarse = as_scores(coarsening.coarsen(scores, offsets), where)
    if coarse.shape != scores.shape:
        raise unexpected(where, f"coarsened scores of shape {scores.shape}", f"shape {coarse.shape}")
    check_no_nan(coarse, where)
    return coarse


class NamedCoarsening(Coarsening):
    """A coarsening with a notation. Each subclass is registered, so that `parse_precision` finds it by its names.

    Attributes
    ----------
    names : tuple of str
        The names in the notation, none of a base class. ``str()`` uses the first one.
    number : str
        A placeholder for the number that follows the name and a colon, such as N; empty if there is no number.
    example : str
        The notation of one coarsening of the class.
    whole_list : bool
        Whether the coarse scores depend on the whole list, instead of on each score alone.
    rounds : bool
        Whether coarse scores are numbers of a scale, so that those of two systems can be added. Other classes only tie
        the documents of a list.
    groups_ranks : bool
        Whether the class puts ranks into groups, regardless of scores. Its method `starts` then returns the first rank
        of each group, and values are averages over the orders inside the groups.
    """

    names: ClassVar[tuple[str, ...]] = ()
    number: ClassVar[str] = ""
    example: ClassVar[str]
    whole_list: ClassVar[bool] = False
    rounds: ClassVar[bool] = True
    groups_ranks: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        REGISTRY.update(dict.fromkeys(cls.names, cls))
        if "coarsen" in vars(cls) and "kernel" not in vars(cls):
            # The kernel of a base class does not do what the method `coarsen` of this class does.
            cls.kernel = NamedCoarsening.kernel  # type: ignore[method-assign]

    def __str__(self) -> str:
        return self.names[0]

    @property
    def rung(self) -> tuple[str, float]:
        """The family of precisions that are ordered from fine to coarse, and the place in it; by default its own."""
        return str(self), 0.0

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Coarsen the scores of several lists; parameters as for `Coarsening.coarsen`."""
        kernel = self.kernel()
        return scores if kernel is None else kernel.coarsen(scores, offsets)

    def kernel(self) -> _coarsening.KernelCoarsening | None:
        """Return the kernel that computes the same coarse scores as the method `coarsen`; None if there is none."""
        return None

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the coarsening that a notation such as "decimals:3" stands for, given the number after the colon.

        Parameters
        ----------
        number : str or None
            The text after the colon, such as "3"; None if the notation has no colon.

        Returns
        -------
        NamedCoarsening

        Raises
        ------
        InputError
            If the number is missing, superfluous or out of range.
        """
        if number is not None:
            raise InputError("precision", f"{cls.names[0]} takes no number")
        return cls()


# The classes of coarsenings by name. A class that has several names occurs under each.
REGISTRY: dict[str, type[NamedCoarsening]] = {}


def precisions() -> tuple[type[NamedCoarsening], ...]:
    """Return all classes of coarsenings that have a notation."""
    return tuple(dict.fromkeys(REGISTRY.values()))


def notations() -> str:
    """Return the notations of all coarsenings in one line, for help texts and errors.

    Examples
    --------
    >>> notations().split(", ")[:3]
    ['decimals:N', 'significant:N', 'float32']
    """
    return ", ".join(f"{each.names[0]}:{each.number}" if each.number else each.names[0] for each in precisions())


def whole_number_for(precision: type[NamedCoarsening], number: str | None) -> int:
    """Return the text after the colon of a notation as an int; raise InputError if it is not a whole number."""
    if number is None or not (number.isascii() and number.isdecimal()) or len(number) > _MOST_DIGITS:
        raise InputError("precision", f"{precision.names[0]} needs a whole number, as in {precision.example}")
    return int(number)


def parse_precision(text: str | Coarsening) -> Coarsening:
    """Parse the notation of a coarsening, such as "decimals:2", "bf16" or "bands:1.5".

    Parameters
    ----------
    text : str or Coarsening
        The notation, in upper or lower case. A coarsening object is returned unchanged.

    Returns
    -------
    Coarsening
        If the coarsening has a notation, ``parse_precision(str(coarsening)) == coarsening``.

    Raises
    ------
    InputError
        If no coarsening has this name (the message gives the nearest names, or says how to evaluate quantised
        embeddings), or if its number is out of range.

    Examples
    --------
    >>> str(parse_precision("bf16")), parse_precision("decimals:2")
    ('bfloat16', Decimals(digits=2))
    """
    if not isinstance(text, str):
        if isinstance(text, Coarsening):
            return text
        problem = unexpected("precision", "a text such as 'decimals:2', or a coarsening", shown(text))
        remedy = _instead_of(text)
        raise InputError("precision", f"{problem.problem}; {remedy}") if remedy else problem
    name, colon, number = text.strip().partition(":")
    name = name.lower()
    if name not in REGISTRY:
        raise _unknown(text, name)
    return REGISTRY[name].from_number(number if colon else None)


def _instead_of(value: object) -> str:
    """Return what to write instead of a number or a type such as numpy.float16; empty if the meaning is not clear."""
    if isinstance(value, int | float):
        return "" if isinstance(value, bool) else _for_number(shown(value))
    # Types of NumPy scalars have __name__, dtypes of NumPy have name, and torch's have a repr such as torch.float16.
    name = getattr(value, "__name__", None) or getattr(value, "name", None) or _LIBRARY.sub("", shown(value))
    return f"write '{name}'" if isinstance(name, str) and name in REGISTRY else ""


def _for_number(text: str) -> str:
    """Return the precisions that a lone number may mean, as a sentence; empty if the text is not such a number."""
    if text in ("16", "32"):
        bits = "'float16' or 'bfloat16'" if text == "16" else "'float32'"
        return f"write {bits} for {text} bits, or 'decimals:{text}' for {text} digits after the point"
    if _DIGIT.fullmatch(text):
        return f"write 'decimals:{text}' for {text} digits after the point, or 'significant:{text}' for {text} in all"
    if _FRACTION.fullmatch(text):
        decimals = _POWER_OF_TEN.fullmatch(text)
        rounded = f", or 'decimals:{len(decimals[1])}' to round them" if decimals else ""
        return f"write 'gap:{text}' to tie scores that differ by {text} or less{rounded}"
    return ""


def _unknown(text: str, name: str) -> InputError:
    """Return the error for a notation whose name, in lower case, no coarsening has."""
    if embedding := _EMBEDDING_FORMAT.fullmatch(name):
        bits = embedding["bits"] or embedding["block_bits"] or ("4" if name == "nf4" else "1")
        instead = f"pass the scores of the {name} embeddings themselves, or round scores with 'levels:{2 ** int(bits)}'"
        return InputError("precision", f"{shown(text)} quantises embeddings, not scores; {instead}")
    if small := _SMALL_FLOAT.fullmatch(name):
        dtype = f"float{small['bits']}_{(small['variant'] or _USUAL_VARIANT[small['bits']]).lstrip('_')}"
        instead = f"round scores before you evaluate them or write run files, as in scores.astype(ml_dtypes.{dtype})"
        limit = "; it makes scores beyond ±448 NaN, so scale them first" if dtype == "float8_e4m3fn" else ""
        return InputError("precision", f"{shown(text)} is unknown; {instead}{limit}")
    if name in _EXACT:
        return InputError("precision", f"{shown(text)} is the precision of unrounded scores; leave precision out")
    if remedy := _for_number(name):
        return InputError("precision", f"{shown(text)} names no precision; {remedy}")
    likely = _likely(text.strip().lower())
    if likely:
        return InputError("precision", f"unknown precision {shown(text)}; did you mean {likely}?")
    # TF32 has fewer digits than float32, although its name is alike.
    hint = "" if name == "tf32" else did_you_mean(name, REGISTRY)
    hint = hint or f"; known are {notations()}"
    return InputError("precision", f"unknown precision {shown(text)}{hint}")


def _likely(text: str) -> str:
    """Return what another notation of a precision means, such as decimals:2 for decimals=2; empty if unclear."""
    plain = _LIBRARY.sub("", text)
    form = _OTHER_NOTATION.fullmatch(plain)
    if plain in REGISTRY:
        return plain
    if not form:
        return ""
    number = f":{form['number']}" if form["number"] else ""
    names = ("decimals", "significant") if form["name"] == "digits" else (_MEANT.get(form["name"], form["name"]),)
    if any(name not in REGISTRY or bool(REGISTRY[name].number) != bool(number) for name in names):
        return ""
    try:
        return " or ".join(str(parse_precision(name + number)) for name in names)
    except InputError:
        return ""
