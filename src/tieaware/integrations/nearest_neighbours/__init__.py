"""Recall at k of nearest-neighbour search, where neighbours are equally near, in the truth and in the answers.

1. `neighbour_files` reads the files of big-ann-benchmarks, ann-benchmarks and TEXMEX.
2. `recall_at_k` decides which answers are right, and computes the recall.
"""

from __future__ import annotations

from tieaware.integrations.nearest_neighbours.neighbour_files import Neighbours, read_neighbours, read_vectors
from tieaware.integrations.nearest_neighbours.recall_at_k import TruthTies, hits, recall, truth_ties

__all__ = ["Neighbours", "TruthTies", "hits", "read_neighbours", "read_vectors", "recall", "truth_ties"]
