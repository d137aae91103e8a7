"""Choice of the engine that groups a list: counting, locating or sorting (see ext/engine/_groups.pyx).

All three give the same groups, so the choice changes only the time that an evaluation takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets
from tieaware.kernels import _sorting

# With up to this many distinct scores of weighted documents, comparing each score with all of them is cheaper than a
# binary search among them. The measured crossing is much the same for lists of any length (docs/performance.md).
COUNTING_LIMIT = 110

# Lists with up to this many weighted documents are always counted: ordering the weighted documents costs next to
# nothing there (LANES in ext/engine/_groups.pyx).
_FEW_WEIGHTED = 16

# Up to this cut-off, only the top weighted documents are compared (FEW_OF_MANY in ext/engine/_sorting.pyx).
_FEW_RANKS = 24


@dataclass(frozen=True)
class EngineChoice:
    """A choice of the engine that groups each list. The values of an evaluation do not depend on it.

    Parameters
    ----------
    counting_limit : int
        Lists with more distinct scores of weighted documents than this are located instead of counted.
    sorting : bool, optional
        Whether to sort every list or none; by default, the lists for which `sorting_pays`.
    """

    counting_limit: int = COUNTING_LIMIT
    sorting: bool | None = None

    def sorted_lists(self, lengths: Integers, weighted_offsets: Offsets, depth: int) -> npt.NDArray[np.bool_] | None:
        """Return which lists to sort, or None if it is cheap to see that no list is sorted.

        Parameters
        ----------
        lengths : int64[n_queries]
        weighted_offsets : int64[n_queries + 1]
            Where the weighted documents of each list start.
        depth : int
            A rank below which no measure looks.
        """
        if self.sorting is not None:
            return np.full(len(lengths), self.sorting)
        if weighted_offsets[-1] <= _FEW_WEIGHTED:
            return None
        return sorting_pays(lengths, weighted_offsets[1:] - weighted_offsets[:-1], depth)


# The choice that `prepare` makes. Tests and benchmarks replace it to run one engine.
CHOICE = EngineChoice()


def sorting_pays(lengths: Integers, n_weighted: Integers, depth: int) -> npt.NDArray[np.bool_]:
    """Estimate for which lists sorting costs less than counting and locating.

    The cost model is in nanoseconds per document, but only ratios matter. They were measured on prepared engines that
    share everything except the step compared, on an Intel Xeon with AVX-512, with NumPy's use of AVX-512 on and off,
    for lists of 24 to 16,000 documents (benchmarks/bench_engines.py shows the crossing). Counting and merging compile
    to the same instructions on every processor with AVX2, and NumPy sorts chunks of up to 256 words with a network of
    such instructions, so the ratios hold for other vendors too.

    Parameters
    ----------
    lengths, n_weighted : int64[n_queries]
        The number of documents of each list, and of its weighted documents.
    depth : int
        A rank below which no measure looks.

    Returns
    -------
    bool[n_queries]
    """
    if not len(n_weighted) or n_weighted.max() <= _FEW_WEIGHTED:
        return np.zeros(len(n_weighted), np.bool_)
    n = np.maximum(lengths, 1.0)
    if depth <= _FEW_RANKS:
        # The kernel selects the top weighted documents, compares only these, and visits no other.
        compared = np.clip(n_weighted, 1, max(depth, 1))
        ordering, walking = 9 * n_weighted + 30 * compared, 0 * n_weighted
    else:
        compared = np.maximum(n_weighted, 1)
        ordering, walking = 120 + 16 * n_weighted, 4 * n_weighted
    counting = 0.25 + 0.065 * compared + ordering / n
    locating = 4.0 + 0.55 * np.log2(compared) + ordering / n
    # Sorting networks have a power of two of wires.
    doublings = np.ceil(np.log2(n))
    network = 1.4 + 1.8 * 2**doublings / n if _sorting.WIDE else 5.2
    sorting = network + 2.2 * np.maximum(doublings - 8, 0) + (20 + walking) / n
    pays: npt.NDArray[np.bool_] = (n_weighted > _FEW_WEIGHTED) & (sorting < np.minimum(counting, locating))
    return pays
