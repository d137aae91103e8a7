"""Binary floating-point formats: single precision, half precision and bfloat16.

All classes round to the nearest number of the format, halfway cases to even, and return float32 scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tieaware.checks.arrays import Offsets, Scores
from tieaware.kernels import _coarsening
from tieaware.precision.coarsening import NamedCoarsening

_FLOAT32, _FLOAT16, _BFLOAT16 = map(_coarsening.KernelCoarsening, ("float32", "float16", "bfloat16"))


@dataclass(frozen=True)
class Float32(NamedCoarsening):
    """Round scores to single precision, which has 24 significant bits.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="float32")([1.0 + 2.0**-30, 1.0])
    array([[0.75]])
    """

    names: ClassVar[tuple[str, ...]] = ("float32", "fp32", "f32")
    example = "float32"

    @property
    def rung(self) -> tuple[str, float]:
        """The family "floats"; the fewer significant bits, the coarser."""
        return "floats", -24

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Convert the scores to float32."""
        return self.kernel().coarsen(scores, offsets)

    def kernel(self) -> _coarsening.KernelCoarsening:
        """Return the kernel that converts to float32."""
        return _FLOAT32


@dataclass(frozen=True)
class Float16(NamedCoarsening):
    """Round scores to half precision, which has 11 significant bits. Scores of 65,520 or more become infinite.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="float16")([1.0001, 1.0])
    array([[0.75]])
    """

    names: ClassVar[tuple[str, ...]] = ("float16", "fp16", "f16")
    example = "float16"

    @property
    def rung(self) -> tuple[str, float]:
        """The family "floats"; the fewer significant bits, the coarser."""
        return "floats", -11

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Convert the scores to float16, and the result to float32."""
        return self.kernel().coarsen(scores, offsets)

    def kernel(self) -> _coarsening.KernelCoarsening:
        """Return the kernel that rounds to float16."""
        return _FLOAT16


@dataclass(frozen=True)
class BFloat16(NamedCoarsening):
    """Round scores to bfloat16, which has the range of single precision and 8 significant bits.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="bfloat16")([1.001, 1.0])
    array([[0.75]])
    """

    names: ClassVar[tuple[str, ...]] = ("bfloat16", "bf16")
    example = "bfloat16"

    @property
    def rung(self) -> tuple[str, float]:
        """The family "floats"; the fewer significant bits, the coarser."""
        return "floats", -8

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Round each score as if in one step."""
        return self.kernel().coarsen(scores, offsets)

    def kernel(self) -> _coarsening.KernelCoarsening:
        """Return the kernel that rounds to bfloat16."""
        return _BFLOAT16
