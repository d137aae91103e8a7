"""The experiments of the papers on ties and precision. They need `tieaware[analysis]`.

Each function returns an object with its numbers (``table()``, ``tables()``), its figures (``plot()``), its export
(``to_csv(path)``), and a report of all of these (``write(folder)``).
"""

import sys
from typing import TYPE_CHECKING, Any

from tieaware.errors import missing
from tieaware.experiments._assessors import assessors
from tieaware.experiments._bounds import bounds
from tieaware.experiments._comparison import compare, comparison
from tieaware.experiments._curves import curves
from tieaware.experiments._fusion import fusion
from tieaware.experiments._gate import gate
from tieaware.experiments._inexact import inexact
from tieaware.experiments._noise import noise
from tieaware.experiments._overhead import overhead
from tieaware.experiments._pooling import pooling
from tieaware.experiments._precision import banding, precision
from tieaware.experiments._scales import scales
from tieaware.experiments._smoothing import smoothing
from tieaware.experiments._tie_prevalence import tie_prevalence

__all__ = [
    "assessors", "banding", "bounds", "compare", "comparison", "curves", "fusion", "gate", "inexact", "noise",
    "overhead", "pooling", "precision", "scales", "smoothing", "tie_prevalence",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


# Type checkers do not read this function, so that they find misspelled names.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise missing(__name__, name, sys.modules[__name__])
