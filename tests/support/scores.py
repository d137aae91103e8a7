"""Coarse scores of single lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.precision import Coarsening


def coarsen_list(coarsening: Coarsening, scores: Sequence[float]) -> np.ndarray:
    """Coarsen the scores of one list."""
    return coarsening.coarsen(np.array(scores, dtype=np.float64), np.array([0, len(scores)]))
