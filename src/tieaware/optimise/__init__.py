"""Fusion of several runs into one, and the search for weights: of two runs, and of many features."""

from tieaware.optimise.ascent import Ascent, coordinate_ascent
from tieaware.optimise.fusion import fuse
from tieaware.optimise.weighted_fusion import WeightedFusion

__all__ = ["Ascent", "WeightedFusion", "coordinate_ascent", "fuse"]
