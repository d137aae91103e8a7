"""Choice of the engine that groups a list: counting, locating or sorting (see ext/engine/_grouping.pyx).

All three give the same groups, so the choice changes only the time that an evaluation takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets
from tieaware.kernels import _labels, _sorting

# If the weighted documents of a list have at most this many distinct scores, comparing each score of the list with all
# distinct scores is cheaper than a binary search among the distinct scores. Measurements gave nearly the same number
# for lists of any length (docs/performance.md).
COUNTING_LIMIT = 110

# Lists with at most this many weighted documents are always grouped by counting, because sorting so few scores takes
# almost no time. This number equals LANES in ext/engine/_counting.pxd.
_FEW_WEIGHTED = 16

# If no measure looks below this rank, counting compares only the weighted documents with the highest scores. This
# number equals FEW_OF_MANY in ext/engine/_sorting.pyx.
_FEW_RANKS = 24

# Lists up to this length are sorted by words of 32 bits, in chunks of 2⁹ words with AVX-512, else of 2⁸. Longer lists
# are sorted by words of 64 bits. This number equals TIEAWARE_LONGEST_NARROW in ext/engine/narrow_sorting.h.
_LONGEST_NARROW = 4096


@dataclass(frozen=True)
class EngineChoice:
    """A rule that chooses the engine that groups each list. The values of an evaluation do not depend on the choice.

    Parameters
    ----------
    counting_limit : int
        If the weighted documents of a list have more distinct scores than this, the list is grouped by locating instead
        of counting.
    sorting : bool, optional
        True to group every list by sorting, false to group none by sorting. By default, `sorting_pays` decides.
    """

    counting_limit: int = COUNTING_LIMIT
    sorting: bool | None = None

    def sorted_lists(
        self, lengths: Integers, weighted_offsets: Offsets, depth: int, in_order: bool
    ) -> npt.NDArray[np.bool_] | None:
        """Return for each list whether to group it by sorting; return None if it is quickly seen that none should be.

        Parameters
        ----------
        lengths : int64[n_queries]
        weighted_offsets : int64[n_queries + 1]
            Where the weighted documents of each list start.
        depth : int
            A rank such that no measure looks at documents below it.
        in_order : bool
            Whether the tie rule orders tied documents one by one, by their places or identifiers.
        """
        if self.sorting is not None:
            return np.full(len(lengths), self.sorting)
        if _labels.longest(weighted_offsets) <= _FEW_WEIGHTED:
            return None
        return sorting_pays(lengths, weighted_offsets[1:] - weighted_offsets[:-1], depth, in_order)


# The rule that `prepare` uses. Tests and benchmarks replace it to make one engine group all lists.
CHOICE = EngineChoice()


def sorting_pays(
    lengths: Integers, n_weighted: Integers, depth: int, in_order: bool = False
) -> npt.NDArray[np.bool_]:
    """Estimate for which lists sorting costs less than counting and locating.

    The costs are in nanoseconds per document, but only their ratios matter. They were measured with engines that differ
    only in how they group scores, on an Intel Xeon with AVX-512 (counting, locating, and sorting of long lists) and on
    an AMD EPYC (sorting of shorter lists), with NumPy's use of AVX-512 on and off, for lists of 24 to 16,000 documents
    (benchmarks/bench_engines.py shows where the faster engine changes). Counting and merging compile to the same
    instructions on every processor with AVX2, and NumPy sorts chunks of words with a network of such instructions. So
    the ratios should hold for other processors too.

    Parameters
    ----------
    lengths, n_weighted : int64[n_queries]
        The number of documents and the number of weighted documents of each list.
    depth : int
        A rank such that no measure looks at documents below it.
    in_order : bool
        Whether the tie rule orders tied documents one by one. Doubles are then compared, and floats otherwise.

    Returns
    -------
    bool[n_queries]
    """
    if not len(n_weighted) or n_weighted.max() <= _FEW_WEIGHTED:
        return np.zeros(len(n_weighted), np.bool_)
    n = np.maximum(lengths, 1.0)
    if depth <= _FEW_RANKS:
        # Counting selects the weighted documents with the highest scores and compares the list only with these.
        compared = np.clip(n_weighted, 1, max(depth, 1))
        ordering, walking = 9 * n_weighted + 30 * compared, 0 * n_weighted
    else:
        compared = np.maximum(n_weighted, 1)
        ordering, walking = 120 + 16 * n_weighted, 4 * n_weighted
    counting = 0.25 + (0.065 if in_order else 0.045) * compared + ordering / n
    locating = 4.0 + 0.55 * np.log2(compared) + ordering / n
    sorting = _sorting_costs(n) + (20 + walking) / n
    pays: npt.NDArray[np.bool_] = (n_weighted > _FEW_WEIGHTED) & (sorting < np.minimum(counting, locating))
    return pays


def _sorting_costs(n: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the cost per document of sorting words, for lists of n documents."""
    doublings = np.ceil(np.log2(n))
    # A sorting network is made for a power of two. So a list costs as much as one of the next larger power of two.
    padded = 2**doublings / n
    if _sorting.WIDE:
        narrow, wide, chunk = 1.5 + 1.2 * padded, 1.4 + 1.8 * padded, 9
    else:
        narrow, wide, chunk = 2.4 + padded, np.full(len(n), 5.2), 8
    costs: npt.NDArray[np.float64] = np.where(
        n <= _LONGEST_NARROW,
        narrow + 2.0 * np.maximum(doublings - chunk, 0),
        wide + 2.2 * np.maximum(doublings - 8, 0),
    )
    return costs
