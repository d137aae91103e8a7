"""Coarsenings: ways to reduce the precision of a ranking's scores before its ties are resolved.

| class | notation | coarse scores |
|---|---|---|
| `Decimals(N)` | `decimals:N` | N digits after the decimal point |
| `Significant(N)` | `significant:N` | N significant decimal digits |
| `Float32()` | `float32`, `fp32`, `f32` | IEEE 754 single precision |
| `Float16()` | `float16`, `fp16`, `f16` | IEEE 754 half precision |
| `BFloat16()` | `bfloat16`, `bf16` | the upper half of single precision |
| `Levels(N)` | `levels:N` | N equal steps over the range of each list's scores |
| `Thresholds(CUTS)` | `thresholds:CUTS` | the level on a scale that all lists share, as `thresholds:0.1,0.5` |
| `Gap(ATOL)` | `gap:ATOL` | the highest score of each group of near scores; `gap:ATOL,RTOL` adds a relative tolerance |
| `Bands(RHO)` | `bands:RHO` | one score for all ranks of a band; each band begins RHO times as deep as the one before |
| `Top(K, P)` | `top:K P` | exact in the first K ranks, and the precision P below, as in `top:20 levels:16` |

All formats round to the nearest number, ties to even, except ``Levels`` and ``Thresholds``, which round down, ``Gap``,
which rounds up to a score of the list, and ``Top``, which rounds down to one. No coarsening puts a lower score above a
higher one.

For `Evaluator.under_noise`, noise has the distributions `Gaussian`, `Uniform` and `Gumbel`.
"""

from tieaware.precision.coarsening import Coarsening, parse_precision
from tieaware.precision.formats import BFloat16, Decimals, Float16, Float32, Levels, Significant
from tieaware.precision.near_ties import Gap
from tieaware.precision.noise import Gaussian, Gumbel, Noise, Uniform
from tieaware.precision.rank_bands import Bands, bands
from tieaware.precision.thresholds import Thresholds, best_thresholds, geometric_thresholds
from tieaware.precision.top_ranks import Top

__all__ = [
    "BFloat16",
    "Bands",
    "Coarsening",
    "Decimals",
    "Float16",
    "Float32",
    "Gap",
    "Gaussian",
    "Gumbel",
    "Levels",
    "Noise",
    "Significant",
    "Thresholds",
    "Top",
    "Uniform",
    "bands",
    "best_thresholds",
    "geometric_thresholds",
    "parse_precision",
]


def __dir__() -> list[str]:
    return __all__
