"""How well a replicated experiment agrees with the original one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import ratio, rounding_of
from tieaware.errors import InputError
from tieaware.statistics.values import finite


class Replication(NamedTuple):
    """The agreement of two experiments, each with a baseline and an advanced system.

    Every field has the shape of the values without the axis of the topics.

    Attributes
    ----------
    effect_ratio : float64[...]
        The mean improvement in the replication divided by that in the original: 1 for the same effect, above 1 for a
        larger one, below 0 if the advanced system is worse than the baseline in one of the experiments only. NaN if the
        original has no effect.
    delta_relative_improvement : float64[...]
        The relative improvement of the mean in the original minus that in the replication: 0 for the same. NaN if the
        mean of a baseline is 0.
    rmse_base, rmse_advanced : float64[...] or None
        The root mean square differences between the original and the replicated values of each system on the topics: 0
        for the same values. None if the topics differ.
    """

    effect_ratio: Values
    delta_relative_improvement: Values
    rmse_base: Values | None
    rmse_advanced: Values | None


def replication(
    original_base: npt.ArrayLike,
    original_advanced: npt.ArrayLike,
    replicated_base: npt.ArrayLike,
    replicated_advanced: npt.ArrayLike,
    *,
    same_topics: bool = True,
) -> Replication:
    """Compare a replicated experiment with the original, by the measures of repro_eval.

    The measures describe the two experiments. They assume nothing about how values are distributed, and say nothing
    about sampling error; `paired_test` of the original and the replicated values does, if the topics are the same.

    Parameters
    ----------
    original_base, original_advanced : float[..., n_topics]
        The values of the baseline and of the advanced system on the same topics.
    replicated_base, replicated_advanced : float[..., n_replicated_topics]
        Those of the replication.
    same_topics : bool
        Whether the replication has the topics of the original, in the same order (reproducibility), or topics of its
        own (replicability, as on another collection).

    Returns
    -------
    Replication

    Raises
    ------
    InputError
        If a value is not finite, or the shapes do not match.

    References
    ----------
    Breuer, T., Ferro, N., Fuhr, N., Maistro, M., Sakai, T., Schaer, P. and Soboroff, I. (2020). How to measure the
    reproducibility of system-oriented IR experiments. SIGIR 2020, sections 3.3 and 3.4.

    Examples
    --------
    >>> base, advanced = [0.25, 0.5, 0.25, 0.5], [0.5, 0.75, 0.25, 0.75]
    >>> found = replication(base, advanced, [0.25, 0.5, 0.25, 0.5], [0.25, 0.75, 0.5, 0.5])
    >>> print(f"ER {found.effect_ratio:.4f}, ΔRI {found.delta_relative_improvement:.4f}")
    ER 0.6667, ΔRI 0.1667
    >>> print(f"RMSE {found.rmse_base:.4f} and {found.rmse_advanced:.4f}")
    RMSE 0.0000 and 0.2165
    """
    same_topics = flag("same_topics", same_topics)
    original = _paired(original_base, original_advanced, "original_base", "original_advanced")
    replicated = _paired(replicated_base, replicated_advanced, "replicated_base", "replicated_advanced")
    shapes = [each.shape if same_topics else each.shape[:-1] for each in (original[0], replicated[0])]
    if shapes[0] != shapes[1]:
        hint = "; with other topics, pass same_topics=False" if same_topics else ""
        problem = f"must have as many values as the original{hint}; the shapes are {shapes[0]} and {shapes[1]}"
        raise InputError("replicated_base", problem)
    base, advanced, new_base, new_advanced = (np.asarray(each.mean(axis=-1)) for each in (*original, *replicated))
    rounding, new_rounding = rounding_of(*original, axis=-1), rounding_of(*replicated, axis=-1)
    effect = ratio(new_advanced - new_base, advanced - base, rounding)
    delta = ratio(advanced - base, base, rounding) - ratio(new_advanced - new_base, new_base, new_rounding)
    if not same_topics:
        return Replication(effect, delta, None, None)
    errors = (np.sqrt(((old - new) ** 2).mean(axis=-1)) for old, new in zip(original, replicated, strict=True))
    return Replication(effect, delta, *(np.asarray(each) for each in errors))


def _paired(base: npt.ArrayLike, advanced: npt.ArrayLike, base_name: str, advanced_name: str) -> tuple[Values, Values]:
    """Return the values of two systems on the same topics; raise InputError if their shapes differ."""
    pair = finite(base, base_name), finite(advanced, advanced_name)
    if pair[0].shape != pair[1].shape or pair[0].ndim == 0 or not pair[0].shape[-1]:
        shapes = f"the shapes are {pair[0].shape} and {pair[1].shape}"
        raise InputError(f"{base_name}, {advanced_name}", f"must have a value each for the same topics; {shapes}")
    return pair
