"""Coarser scores: how precisely a ranking's scores are kept, before its ties are resolved.

=================  ==================================================================================================
``Bands(rho)``     the ranks of one band are equal: band g begins at rank b_g, b_1 = 1, b_{g+1} = ⌈rho b_g⌉
``Decimals(d)``    d digits after the decimal point
``Significant(d)`` d significant decimal digits
``Float32()``      IEEE 754 single precision
``Float16()``      IEEE 754 half precision
``BFloat16()``     the upper half of single precision
``Levels(n)``      n equal steps over the range of each list
=================  ==================================================================================================

All round to the nearest, ties to even, but for ``Levels``, which rounds down. None puts a lower score above a higher.
"""

from tieaware.precision.coarsening import (
    Bands,
    BFloat16,
    Coarsening,
    Decimals,
    Float16,
    Float32,
    Levels,
    Significant,
    bands,
    parse_precision,
)

__all__ = [
    "BFloat16",
    "Bands",
    "Coarsening",
    "Decimals",
    "Float16",
    "Float32",
    "Levels",
    "Significant",
    "bands",
    "parse_precision",
]
