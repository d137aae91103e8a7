"""The protocol of coarsenings, the base class of tieaware's own coarsenings, and the parser of their notation."""

from __future__ import annotations

import re
from typing import ClassVar, Protocol, Self, runtime_checkable

from tieaware.checks.arguments import did_you_mean, shown, unexpected
from tieaware.checks.arrays import Offsets, Scores
from tieaware.errors import InputError
from tieaware.kernels import _coarsening

# A whole number with more digits than this is an error. No precision takes such a large number.
_MOST_DIGITS = 17

# Formats of quantised embeddings and weights, as sentence-transformers, llama.cpp and others write them. The bits of a
# format give the number of levels that comes nearest to it.
_EMBEDDING_FORMAT = re.compile(r"u?int(?P<bits>[248])(?:_t)?|q(?P<block_bits>[2-8])(?:_\w+)?|nf4|u?binary|bool|bit")
# Eight-bit floats, and the names that NumPy and torch give to double precision.
_FLOAT8 = re.compile(r"(?:float|fp|f)8(?P<variant>_?e[345]m[234]\w*)?")
_DOUBLE = ("float64", "fp64", "f64", "double")


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


class Precision(Coarsening):
    """A coarsening with a notation. Each subclass is registered, so that `parse_precision` finds it by its names.

    Attributes
    ----------
    names : tuple of str
        The names in the notation. ``str()`` uses the first one.
    number : str
        A placeholder for the number that follows the name and a colon, such as N; empty if there is no number.
    example : str
        The notation of one coarsening of the class.
    whole_list : bool
        Whether the coarse scores depend on the whole list, instead of on each score alone.
    groups_ranks : bool
        Whether the class puts ranks into groups, regardless of scores. Its method `starts` then returns the first rank
        of each group, and values are averages over the orders inside the groups.
    """

    names: ClassVar[tuple[str, ...]]
    number: ClassVar[str] = ""
    example: ClassVar[str]
    whole_list: ClassVar[bool] = False
    groups_ranks: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        REGISTRY.update(dict.fromkeys(cls.names, cls))
        if "coarsen" in vars(cls) and "kernel" not in vars(cls):
            # The kernel of a base class does not do what the method `coarsen` of this class does.
            cls.kernel = Precision.kernel  # type: ignore[method-assign]

    def __str__(self) -> str:
        return self.names[0]

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
        Precision

        Raises
        ------
        InputError
            If the number is missing, superfluous or out of range.
        """
        if number is not None:
            raise InputError("precision", f"{cls.names[0]} takes no number")
        return cls()


# The classes of coarsenings by name. A class that has several names occurs under each.
REGISTRY: dict[str, type[Precision]] = {}


def precisions() -> tuple[type[Precision], ...]:
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


def whole_number_for(precision: type[Precision], number: str | None) -> int:
    """Return the text after the colon of a notation as an int; raise InputError if it is not a whole number."""
    if number is None or not number.isdecimal() or len(number) > _MOST_DIGITS:
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
        raise unexpected("precision", "a text such as 'decimals:2', or a coarsening", shown(text))
    name, colon, number = text.strip().partition(":")
    name = name.lower()
    if name not in REGISTRY:
        raise _unknown(text, name)
    return REGISTRY[name].from_number(number if colon else None)


def _unknown(text: str, name: str) -> InputError:
    """Return the error for a notation whose name, in lower case, no coarsening has."""
    if embedding := _EMBEDDING_FORMAT.fullmatch(name):
        bits = embedding["bits"] or embedding["block_bits"] or ("4" if name == "nf4" else "1")
        instead = f"pass the scores of the {name} embeddings themselves, or round scores with 'levels:{2 ** int(bits)}'"
        return InputError("precision", f"{shown(text)} quantises embeddings, not scores; {instead}")
    if float8 := _FLOAT8.fullmatch(name):
        dtype = f"float8_{(float8['variant'] or 'e4m3fn').lstrip('_')}"
        return InputError("precision", f"{shown(text)} is unknown; pass scores.astype(ml_dtypes.{dtype}) as the scores")
    if name in _DOUBLE:
        return InputError("precision", f"{shown(text)} is the precision of unrounded scores; leave precision out")
    hint = did_you_mean(name, REGISTRY) or f"; known are {notations()}"
    return InputError("precision", f"unknown precision {shown(text)}{hint}")
