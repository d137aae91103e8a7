"""The part of `tieaware.Evaluator` that evaluates scores on a device, without copying them to the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Offsets, Scores
from tieaware.checks.device_tensors import DeviceScores, on_device
from tieaware.checks.tensors import check_tensor
from tieaware.engine.device_counts import countable, counted
from tieaware.engine.prepared import Prepared
from tieaware.errors import InputError


class ListsOnDevices:
    """The part of `tieaware.Evaluator` that counts scores on a device. Counts take the place of scores in kernels.

    Attributes
    ----------
    n_docs : int
    """

    n_docs: int
    _shape: tuple[int, ...]
    _offsets: Offsets
    _prepared: Prepared

    def _counted(self, prepared: Prepared, scores: Any, name: str = "scores") -> Any:
        """Return counts of scores on a device; None if scores must be on the host, or have the wrong shape."""
        if not on_device(scores) or tuple(scores.shape) not in ((self.n_docs,), self._shape):
            return None
        if not countable(prepared):
            return None
        there = DeviceScores(scores, name)
        counts, failed = counted(there, prepared)
        if failed >= 0:
            places = np.arange(*self._offsets[failed : failed + 2])
            shape = there.shape
            raise self._nan(there.at(*((places,) if len(shape) == 1 else np.divmod(places, shape[1]))), failed, name)
        return counts

    def _counted_candidates(self, candidates: Any) -> Integers | None:
        """Return the counts of many scorings on a device; None if they must be on the host, or have the wrong shape."""
        if not on_device(candidates) or tuple(candidates.shape[1:]) not in ((self.n_docs,), self._shape):
            return None
        if not countable(self._prepared) or candidates.shape[0] == 0:
            return None
        check_tensor(candidates, "candidates")
        n = int(candidates.shape[0])
        each = [self._counted(self._prepared, candidates[i, ...], f"candidates[{i}]") for i in range(n)]
        return np.stack([counts for counts in each if counts is not None])

    def _shapes(self, before: str = "", after: str = "") -> str:
        """Describe the accepted shapes of an array for a message: one-dimensional, or the shape of the labels.

        `before` and `after` are the additional dimensions before and after those of the documents.
        """
        flat = f"({before}{self.n_docs}{after or ('' if before else ',')})"
        if self._shape == (self.n_docs,):
            return f"shape {flat}"
        return f"shape {flat} or ({before}{', '.join(map(str, self._shape))}{after})"

    def _nan(self, scores: Scores, query: int, name: str) -> InputError:
        """Return the error for a NaN in the scores of this query; it names the first document with a NaN."""
        missing = np.isnan(scores)
        if self._prepared.excluded is not None:
            missing[self._prepared.excluded.of(query)] = False
        if not missing.any():
            return InputError(name, f"a NaN of query {query} is now a number: the scores changed while they were read")
        return unexpected(name, "numbers", f"NaN for document {int(missing.argmax())} of query {query}")
