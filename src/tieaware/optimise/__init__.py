"""Fusion of several runs into one, the search for weights (of two runs, and of many features), and gradients."""

from tieaware.optimise.ascent import Ascent, coordinate_ascent
from tieaware.optimise.fusion import fuse
from tieaware.optimise.lambdas import Lambdas
from tieaware.optimise.weighted_fusion import WeightedFusion

__all__ = ["Ascent", "Lambdas", "WeightedFusion", "coordinate_ascent", "fuse"]
