"""Checks that the documents of a run are columns of the matrix that holds the judgments."""

from __future__ import annotations

import numpy as np

from tieaware.lists.identifiers import Identifiers

# What to do if the ids of a run are not the numbers of columns.
OTHER_IDS = (
    "give the matrix a column for every document, or name its columns: Qrels.from_sparse(relevance, documents=...)"
)


def too_large(number: int, n: int, has_zero: bool, what: tuple[str, str], remedy: str) -> str:
    """Say that an id is not the number of a column or of a document, for a message.

    Parameters
    ----------
    number : int
        The largest id of the run, which is not below `n`.
    n : int
        The number of columns or documents.
    has_zero : bool
        Whether the run has the id 0. If it has not, and its largest id is `n`, the ids probably count from 1.
    what : (str, str)
        The word for what has numbers, such as "column", and where it is, such as " of qrels".
    remedy : str
        What to do if the ids are not such numbers.
    """
    problem = f"{number} is not one of the {n} {what[0]}s{what[1]}; ids are {what[0]} numbers from 0"
    if number == n and not has_zero:
        return f"{problem}, but these seem to count from 1: pass ids - 1"
    return f"{problem}; {remedy}"


def largest_number(numbers: Identifiers) -> int | None:
    """Return the index of the largest of some identifiers that are integers; None if there are none.

    The largest number has the most digits, and the first digits in which such numbers differ decide between them.
    """
    lengths = np.diff(numbers.offsets)
    if not len(lengths):
        return None
    longest = lengths.max()
    among = np.flatnonzero(lengths == longest)
    for i in range(longest):
        digits = numbers.data[numbers.offsets[among] + i]
        among = among[digits == digits.max()]
    return int(among[0])


def has_zero(numbers: Identifiers) -> bool:
    """Return whether one of some identifiers is 0."""
    single = numbers.offsets[:-1][np.diff(numbers.offsets) == 1]
    return bool((numbers.data[single] == ord("0")).any())
