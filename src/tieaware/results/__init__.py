"""Results: the values of each run, query and measure, and what they become."""

from tieaware.results._results import Results
from tieaware.results.provenance import Provenance

__all__ = ["Provenance", "Results"]
