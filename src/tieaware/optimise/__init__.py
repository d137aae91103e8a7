"""Fusion of several runs into one."""

from tieaware.optimise.fusion import fuse

__all__ = ["fuse"]
