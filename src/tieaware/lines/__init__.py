"""The measures as exact functions along a line of scores, a + t d: which t is best, how sure that is, and a figure."""

from tieaware.lines.choice import Best, Break, CrossValidated, OwnBest, Plateau
from tieaware.lines.construction import along, between, combinations
from tieaware.lines.line import Line

__all__ = ["Best", "Break", "CrossValidated", "Line", "OwnBest", "Plateau", "along", "between", "combinations"]
