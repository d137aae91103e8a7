"""Results of evaluations: the class Results, its exports, its file formats, and checkpoints."""

from tieaware.results._averages import export_of, with_values
from tieaware.results._results import Results
from tieaware.results.certainty import Intervals
from tieaware.results.provenance import Provenance

__all__ = ["Intervals", "Provenance", "Results", "export_of", "with_values"]
