"""Groups of systems that no test separates, and their letters: the compact letter display."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import whole_number, whole_numbers
from tieaware.checks.arrays import as_array
from tieaware.checks.rounding import merged
from tieaware.errors import InputError
from tieaware.statistics.values import finite

# Overlapping groups can be exponentially many. Nobody reads more than these.
_MOST_GROUPS = 10_000
# No study has as many systems.
_MOST_SYSTEMS = 1_000_000


def groups(separated: npt.ArrayLike, means: npt.ArrayLike) -> list[tuple[int, ...]]:
    """Return the largest sets of systems such that no test separates two systems of a set.

    A system can be in several sets. Systems that are in the same set may still differ: no test has shown it.

    Parameters
    ----------
    separated : bool[n_systems, n_systems]
        Whether a test separates the two systems; only the pairs with one of two orders need to be marked.
    means : float[n_systems]
        Larger is better. Systems with equal means are in their order.

    Returns
    -------
    list of tuple of int
        The systems of each set, by position, the largest mean first. The sets are ordered by their largest means, then
        by the next ones.

    Raises
    ------
    InputError
        If the shapes do not fit, a mean is not finite, or there are more than 10,000 sets.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
    Computational and Graphical Statistics 13(2).

    Examples
    --------
    >>> groups([[False, False, True], [False, False, False], [False, False, False]], [0.5, 0.4, 0.3])
    [(0, 1), (1, 2)]
    """
    matrix, values = as_array(separated, "separated"), finite(means, "means")
    n = values.size
    if values.ndim != 1 or matrix.dtype != np.bool_ or matrix.shape != (n, n):
        problem = f"must be bool[n, n] for n means; found {matrix.dtype} of shape {matrix.shape} for {values.shape}"
        raise InputError("separated", problem)
    order = np.argsort(-merged(values), kind="stable")
    alike = ~(matrix | matrix.T)[np.ix_(order, order)]
    np.fill_diagonal(alike, False)
    neighbours = [int("".join("1" if x else "0" for x in row[::-1]), 2) for row in alike]
    found = sorted(_members(clique, n) for clique in _cliques(neighbours)) if n else []
    return [tuple(order[list(members)].tolist()) for members in found]


def _members(clique: int, n: int) -> tuple[int, ...]:
    return tuple(i for i in range(n) if clique >> i & 1)


def _cliques(neighbours: Sequence[int]) -> list[int]:
    """Return the maximal cliques of a graph, as bit masks, by Bron and Kerbosch's method with a pivot."""
    found = []
    # The members so far, those that may be added, and those whose cliques were already found.
    open_cases = [(0, (1 << len(neighbours)) - 1, 0)]
    while open_cases:
        members, candidates, done = open_cases.pop()
        if not candidates and not done:
            found.append(members)
            if len(found) > _MOST_GROUPS:
                raise InputError("groups", f"there are more than {_MOST_GROUPS:,} sets; compare fewer systems")
            continue
        rest = candidates | done
        pivot = max(_members(rest, len(neighbours)), key=lambda i: (candidates & neighbours[i]).bit_count())
        for i in _members(candidates & ~neighbours[pivot], len(neighbours)):
            open_cases.append((members | 1 << i, candidates & neighbours[i], done & neighbours[i]))
            candidates &= ~(1 << i)
            done |= 1 << i
    return found


def letters(found: Sequence[Sequence[int]], n_systems: int) -> list[str]:
    """Return the letters of each system: a for the first group, b for the second, and so on.

    Parameters
    ----------
    found : sequence of sequences of int
        As `groups` returns.
    n_systems : int
        At most a million.

    Returns
    -------
    list of str
        Systems that share a letter are not separated. With more than 26 groups, commas are between the letters.

    Raises
    ------
    InputError
        If there are more systems, or a group has a system that is not one of them.

    Examples
    --------
    >>> letters([(0, 1), (1, 2)], 3)
    ['a', 'ab', 'b']
    """
    n = whole_number("n_systems", n_systems, 0, _MOST_SYSTEMS)
    separator = "," if len(found) > 26 else ""
    shared: list[list[str]] = [[] for _ in range(n)]
    for i, members in enumerate(found):
        for system in dict.fromkeys(whole_numbers(f"found[{i}]", members, 0, n - 1)):
            shared[system].append(_letter(i))
    return [separator.join(each) for each in shared]


def _letter(i: int) -> str:
    """Return the letter of group i: a … z, then aa, ab and so on."""
    return (_letter(i // 26 - 1) if i >= 26 else "") + chr(ord("a") + i % 26)
