"""The experiments of the papers on ties and precision, one module each. They need `tieaware[analysis]`.

Each returns an object with its numbers (``table()``, ``tables()``), its figures (``plot()``), its export
(``to_csv(path)``), and a report of all of it (``write(folder)``).
"""

from tieaware.experiments.comparison import comparison
from tieaware.experiments.curves import curves
from tieaware.experiments.overhead import overhead
from tieaware.experiments.precision import banding, precision
from tieaware.experiments.smoothing import smoothing
from tieaware.experiments.tie_prevalence import tie_prevalence

__all__ = ["banding", "comparison", "curves", "overhead", "precision", "smoothing", "tie_prevalence"]
