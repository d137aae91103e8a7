"""The digits that docs/measures.md promises, over the whole ranges of all parameters, against exact enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from support import oracle

import tieaware
from tieaware import Evaluator, InputError, Measure
from tieaware.measures.parameters import Gains, Number, WholeNumber

# The relative errors of values and of standard deviations. Standard deviations below a fraction of the mean are not
# compared.
OF_VALUES, OF_STD, LEAST = Fraction(1, 10**12), Fraction(1, 10**9), Fraction(1, 10**12)
# Numbers between 0 and 1 at both ends and between them, and positive numbers of any size.
SHARES = (0.0, 1e-15, 1e-8, 0.001, 0.3, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 2**-53, 1.0)
SIZES = (0.0, 1e-9, 1e-8, 0.001, 0.3, 0.5, 1.0, 1.0 + 2**-52, 1.001, 2.5, 30.0, 1e4, 1e8, 1e9)
# Lists with ties: scores and labels. Further judged documents of these labels are in no list.
LISTS = (
    ((2, 2, 1, 1, 1), (1, 0, 2, 0, 1)), ((5, 4, 3, 3, 3, 3), (0, 0, 1, 0, 0, 0)), ((1, 1, 1, 1), (1, 1, 0, -1)),
    ((9, 8, 7, 6, 5, 5), (1, 0, -1, 2, 1, 0)), ((1, 1), (2, 1)), ((1,) * 5, (0, 0, 0, 0, 1)),
)  # fmt: skip
OTHERS = (1, 2, 0)
# PRR is no mean over orders, and MSnDCG is nDCG.
NOT_COMPARED = ("PRR", "MSnDCG")
# The measures whose standard deviations have an error of up to 1e-15 of the mean.
ABSOLUTE = {"INST", "NERR8", "NERR9", "NERR10", "NERR11", "MaxF", "O", "PPlus", "IAP11"}


def steps(least: float, most: float) -> list[int]:
    """Return whole numbers in a range: both ends, and some between."""
    some = {1, 2, 3, 4, 7, 10, 20, 30, 40, 49, 50, 1000, 10**6}
    return sorted({number for number in some | {least, most} if least <= number <= most})


def ladder(unit: float) -> str:
    """Return a table of gains, the smallest of which is `unit`."""
    return f"{{0: 0, 1: {unit!r}, 2: {3 * unit!r}}}"


def notations() -> list[str]:
    """Return the notation of each measure with each numeric parameter over its range."""
    found = []
    for name in dir(tieaware):
        measure = getattr(tieaware, name)
        if not isinstance(measure, Measure) or measure.definition.needs_subtopics or name in NOT_COMPARED:
            continue
        for parameter, kind in measure.definition.parameters.items():
            values: list[object] = []
            if isinstance(kind, Number):
                some = SHARES if kind.most == 1.0 else SIZES
                values = [value for value in some if kind.least <= value <= kind.most]
            elif isinstance(kind, WholeNumber) and parameter != "docs":
                values = list(steps(kind.least, kind.most))
            elif isinstance(kind, Gains):
                values = [ladder(unit) for unit in (1e-8, 1e-4, 0.1, 1.0, 1e4, 1e8)]
            found += [f"{name}({parameter}={value!r})".replace("'", "") for value in values]
    return [each + at for each in found for at in ("", "@3")]


def usable(notation: str) -> Measure | None:
    """Return the measure; None if the parameter has another range beside the others, or there is no cut-off."""
    try:
        measure = tieaware.parse_measure(notation)
        Evaluator([1, 0, 2], [measure], judgments=([0, 1, 1, 2], [0, 4]))([1.0, 1.0, 1.0])
    except InputError:
        return None
    return measure


MEASURES = [measure for measure in map(usable, notations()) if measure is not None]
NAMES = sorted({measure.name for measure in MEASURES})


def difference(found: float, exact: Fraction) -> Fraction:
    """Return the relative error; 0 below the normal range of float64."""
    if abs(exact) < Fraction(2) ** -1000 or exact == found:
        return abs(Fraction(found) - exact) if abs(exact) < Fraction(2) ** -1000 else Fraction(0)
    return abs(Fraction(found) - exact) / abs(exact)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_spreads_over_the_range_of_each_parameter(name):
    measures = [measure for measure in MEASURES if measure.name == name]
    for scores, labels in LISTS:
        judged = [*labels, *OTHERS]
        spread = Evaluator(labels, measures, judgments=(judged, [0, len(judged)])).spread(np.array(scores, float))
        orders = oracle.enumerate_orders(scores, labels)
        for i, measure in enumerate(measures):
            exact = oracle.over_orders(measure, orders, judged)
            case = str(measure), scores, labels
            allowed = OF_VALUES
            if name == "NERR10" and measure.cutoff is not None:
                allowed = max(allowed, Fraction(1, 10**16) / (1 - Fraction(measure["p"])))
            for found, right in zip((spread.mean, spread.min, spread.max), (exact[0], *exact[2:]), strict=True):
                assert difference(float(found[0, i]), right) <= allowed, (case, found[0, i], float(right))
            std = Fraction(float(spread.std[0, i]))
            if name == "INSQ" and float(measure["T"]) < 1e-3:
                continue
            if exact.variance > (LEAST * exact.mean) ** 2:
                right = Fraction(math.sqrt(exact.variance))
                of_mean = Fraction(1, 10**15) if name in ABSOLUTE else Fraction(0)
                if allowed > OF_VALUES:
                    of_mean = allowed
                assert abs(std - right) <= max(OF_STD * right, of_mean * exact.mean), (case, float(std), float(right))
            else:
                assert std <= 2 * LEAST * abs(exact.mean), case


def test_every_measure_with_a_numeric_parameter_is_compared():
    some = {"RBP", "ERR", "nERR", "iRBU", "Q", "O", "PPlus", "SDCG", "INSQ", "BPM", "NERR10", "Compat", "nDCG", "F"}
    assert some <= set(NAMES)
    assert len(MEASURES) > 400


@pytest.mark.parametrize("p", [0.001, 0.5, 0.9, 1 - 1e-6])
@pytest.mark.parametrize("n", [3, 200, 100_000])
def test_the_residual_of_rbp_keeps_its_digits_where_nearly_all_is_judged(p, n):
    """It is the weight of the unjudged ranks and of all ranks below the list."""
    labels = np.ones(n, dtype=int)
    labels[n // 2] = -1
    scores = np.arange(n, 0, -1.0) // 2
    found = Evaluator(labels, [f"RBPResidual(p={p!r})"])(scores)[0, 0]
    with mpmath.workdps(60):
        patience = mpmath.mpf(p)
        tied = np.flatnonzero(scores == scores[n // 2]).tolist()
        exact = patience**n + mpmath.fsum((1 - patience) * patience**j for j in tied) / len(tied)
        if exact > mpmath.mpf(10) ** -290:
            assert abs(found - exact) <= mpmath.mpf(10) ** -12 * exact


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize(("t", "n"), [(0, 10**4), (7, 1000), (900, 300)])
def test_gains_of_any_size_in_large_groups(unit, t, n):
    """Tied documents have gains that differ by a factor of three; the slots of the group share their mean gain."""
    labels = np.zeros(t + n, dtype=int)
    labels[t : t + 10], labels[t + 10 : t + 13] = 1, 2
    scores = np.concatenate([np.arange(t + 1, 1, -1.0), np.ones(n)])
    gains = ladder(unit)
    names = [f"DCG(gains={gains})", f"DCG(gains={gains},discount='1/rank')@{t + n // 2}", f"RBP(gains={gains},p=0.999)"]
    found = Evaluator(labels, names)(scores)[0].tolist()
    with mpmath.workdps(50):
        mean = mpmath.mpf(10 * unit + 3 * float(3 * unit)) / n
        ranks = [mpmath.mpf(j) for j in range(t + 1, t + n + 1)]
        p = mpmath.mpf(0.999)
        slots = [
            mpmath.fsum(1 / mpmath.log(1 + j, 2) for j in ranks), mpmath.fsum(1 / j for j in ranks[: n // 2]),
            p**t - p ** (t + n),
        ]  # fmt: skip
        for name, value, weight in zip(names, found, slots, strict=True):
            assert abs(value - mean * weight) <= mpmath.mpf(10) ** -12 * mean * weight, name
