"""The types of scores: float64, or float32 where a run is read with ``score_dtype="float32"``."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Place, Scores, as_numpy, as_scores, check_no_nan

# The values of the argument `score_dtype`: the types to which scores are rounded when they are read.
ScoreDtype: TypeAlias = Literal["float64", "float32"]


def checked_scores(values: Any, where: str, place: Place | None = None) -> Scores:
    """Return a copy of the scores as a one-dimensional array: float32 scores as float32, all others as float64.

    Raises
    ------
    InputError
        A score is not a number, or is NaN.
    """
    values = as_numpy(values, where, place)
    scores = as_scores(values, where, place, flat=True)
    check_no_nan(scores, where, place)
    is_single = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize == 4
    return scores.astype(np.float32) if is_single else scores.astype(np.float64)


def check_dtype(score_dtype: ScoreDtype) -> None:
    """Raise InputError if `score_dtype` is not "float64" or "float32"."""
    one_of("score_dtype", score_dtype, get_args(ScoreDtype))


def rounded(scores: Scores, score_dtype: ScoreDtype) -> Scores:
    """Round scores to the type `score_dtype`. A score beyond the range of the type becomes infinite, as in C."""
    check_dtype(score_dtype)
    with np.errstate(over="ignore", under="ignore"):
        if score_dtype == "float32":
            return scores.astype(np.float32, copy=False)
        return scores.astype(np.float64, copy=False)
