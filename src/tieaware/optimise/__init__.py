"""Fusion of several runs into one, and the choice of its weights."""

from tieaware.optimise.fusion import fuse
from tieaware.optimise.weighted_fusion import WeightedFusion

__all__ = ["WeightedFusion", "fuse"]
