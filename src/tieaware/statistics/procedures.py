"""Multiple comparison procedures: a paired test of many pairs of runs, with a correction, and its verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np

from tieaware.checks.arguments import did_you_mean, one_of, shown
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.output.tables import counted
from tieaware.runtime.extras import load
from tieaware.statistics.multiple_comparisons import Correction, adjusted, levels
from tieaware.statistics.paired_tests import (
    Alternative,
    PairedMethod,
    PairedTest,
    paired_test,
    tries_all_signs,
)
from tieaware.statistics.tukey import critical_value, randomised_tukey_pairs, tukey_pairs

PairTest: TypeAlias = Literal["t", "wilcoxon", "sign", "permutation", "tukey", "randomised-tukey"]
Test: TypeAlias = Literal["t", "wilcoxon", "sign", "permutation", "tukey", "randomised-tukey", "none"]

#: The names of the tests in sentences.
TESTS: dict[str, str] = {
    "t": "paired t-test", "wilcoxon": "Wilcoxon signed-rank test", "sign": "sign test",
    "permutation": "paired permutation test", "tukey": "Tukey's HSD", "randomised-tukey": "randomised Tukey HSD",
}  # fmt: skip
#: The names of the corrections in sentences.
CORRECTIONS: dict[str, str] = {
    "holm": "Holm-corrected", "bh": "Benjamini–Hochberg-corrected", "bonferroni": "Bonferroni-corrected",
    "none": "not corrected",
}  # fmt: skip
# The names of corrected p values.
_P = {"holm": "Holm's p", "bh": "Benjamini–Hochberg's p", "bonferroni": "Bonferroni's p", "none": "uncorrected p"}
# The short names of corrections, for columns of corrected p values.
_SHORT = {"holm": "Holm", "bh": "BH", "bonferroni": "Bonferroni"}
# The names of the p values of tests that correct for the number of runs themselves.
_OF_FAMILY = {"tukey": "Tukey's p", "randomised-tukey": "randomised Tukey's p"}
# The number of random permutations in a permutation test, the default of `paired_test` and `randomised_tukey_hsd`.
_PERMUTATIONS = 10_000
# The most runs that an error names.
_SHOWN = 4
# The most differences that are computed at a time, because those of all pairs may not fit into memory.
_CHUNK = 2**22


class Verdicts(NamedTuple):
    """The tests of some pairs of runs by one measure; every array has one element for each pair.

    `adjusted` has the p values after the correction, and `signs` 1 if the mean of the first run is significantly
    greater, -1 if it is significantly less, otherwise 0.
    """

    test: PairedTest
    adjusted: Values
    signs: Values


class Procedure(NamedTuple):
    """A two-sided paired test over the queries, of `TESTS`, and the correction of its p values, of `CORRECTIONS`.

    The correction is "none" for "tukey" and "randomised-tukey", which correct for the number of runs themselves.
    """

    test: PairTest = "t"
    correction: Correction = "holm"

    def described(self, alpha: float, family: str, n_runs: int) -> str:
        """Return the test, the level and the correction in a phrase for the notes of a table.

        The correction is for the tests of a `family`, such as "3 pairs". Both kinds of Tukey's HSD always correct for
        all runs.
        """
        start = f"{TESTS[self.test]}, two-sided, p ≤ {alpha:g}"
        if self.is_of_all_runs:
            return f"{start}, corrected for {counted(n_runs, 'run')}"
        return f"{start}, {CORRECTIONS[self.correction]}" + (f" for {family}" if self.corrects else "")

    @property
    def is_of_all_runs(self) -> bool:
        """True if the test looks at all runs at once, and so corrects for their number itself."""
        return self.test in _OF_FAMILY

    @property
    def corrects(self) -> bool:
        """True if the p values of the test are corrected afterwards."""
        return self.correction != "none"

    @property
    def short_correction(self) -> str:
        """The short name of the correction, such as "Holm"; empty if p values are not corrected afterwards."""
        return _SHORT.get(self.correction, "")

    @property
    def p_name(self) -> str:
        """The name of the p value that decides, such as "Holm's p"."""
        return _OF_FAMILY.get(self.test, _P[self.correction])

    def limit(self, alpha: float, n_queries: int, n_pairs: int) -> str:
        """Return a sentence if too few queries or too many pairs make significance impossible; otherwise ""."""
        least = 2.0 ** (1 - n_queries) if self.test in ("sign", "wilcoxon", "permutation") else 0.0
        fewest = 0.0
        if self.test == "permutation" and not tries_all_signs(n_queries, _PERMUTATIONS):
            least, fewest = 0.0, 2.0 / (_PERMUTATIONS + 1)
        elif self.test == "randomised-tukey":
            # There are at most n_pairs + 1 runs. If the permutations of all queries are the same, the range of the
            # means is the observed one. Larger numbers would give less than `fewest` anyway.
            least = float(math.factorial(min(n_pairs + 1, 8))) ** -min(n_queries - 1, 20)
            fewest = 1.0 / (_PERMUTATIONS + 1)
        with_permutations = f" and {_PERMUTATIONS:,} permutations" if fewest > least else ""
        least = max(least, fewest)
        if self.correction in ("holm", "bonferroni"):
            least = min(least * n_pairs, 1.0)
        if least <= alpha:
            return ""
        queries = counted(n_queries, "query", "queries")
        return (
            f"With {queries}{with_permutations} for {counted(n_pairs, 'pair')}, p is at least {least:.2g}: choose "
            "another test, because this one cannot find a significant difference."
        )

    def verdicts(
        self, values: Values, first: Integers, second: Integers, alpha: float, confidence: float = 0.95
    ) -> Verdicts:
        """Test pairs of runs by one measure.

        The values of all runs, float64[n_runs, n_queries], are finite; `first` and `second` are the rows of each pair.
        `alpha` is the level of the corrected p values, and `confidence` that of the intervals, which only "t" and
        "tukey" have.
        """
        test = self.tested(values, first, second, confidence)
        corrected = adjusted(test.p, self.correction)
        return Verdicts(test, corrected, self.signs(values, first, second, test, corrected <= alpha))

    def decisive(
        self, test: PairedTest, alpha: float, confidence: float, shape: tuple[int, int], some: Integers
    ) -> Values | None:  # fmt: skip
        """Return half the widths of intervals that leave out 0 if and only if the difference is significant.

        The interval of a pair has the level to which the correction holds its test. None if the test has no intervals.
        `test` is the outcome of `tested`, with intervals of level `confidence`; `shape` has the numbers of runs and of
        queries.
        """
        if test.high is None:
            return None
        n_runs, n_queries = shape
        widths: Values = (test.high - test.difference)[some]
        if self.test == "tukey" and n_runs > 2:
            degrees = (n_runs - 1) * (n_queries - 1)
            return widths * critical_value(alpha, n_runs, degrees) / critical_value(1.0 - confidence, n_runs, degrees)
        student = load("scipy.stats", "analysis").t(n_queries - 1)
        tails = levels(test.p, alpha, self.correction, some) / 2.0
        return np.asarray(widths * student.isf(tails) / student.isf((1.0 - confidence) / 2.0))

    def tested(self, values: Values, first: Integers, second: Integers, confidence: float = 0.95) -> PairedTest:
        """Test pairs of runs without a correction; parameters as for `verdicts`."""
        if self.test == "tukey":
            return tukey_pairs(values, first, second, confidence)
        if self.test == "randomised-tukey":
            return randomised_tukey_pairs(values, first, second, _PERMUTATIONS)
        return _paired_tests(values, first, second, self.test, "two-sided", confidence)

    def signs(
        self, values: Values, first: Integers, second: Integers, test: PairedTest, is_significant: np.ndarray
    ) -> Values:
        """Return the signs of the significant differences, as in `Verdicts`."""
        signs = np.where(is_significant, np.sign(test.difference), 0.0)
        some = np.flatnonzero(signs)
        if (self.test == "wilcoxon" or self.test == "sign") and some.size:
            # If ranks or signs favour the run with the smaller mean, neither run wins.
            greater = _paired_tests(values, first[some], second[some], self.test, "greater").p < 0.5
            signs[some] *= greater == (signs[some] > 0.0)
        return signs


def _paired_tests(
    values: Values,
    first: Integers,
    second: Integers,
    method: PairedMethod,
    alternative: Alternative,
    confidence: float = 0.95,
) -> PairedTest:
    """Apply `paired_test` to pairs of runs, in chunks of pairs."""
    size = max(1, _CHUNK // values.shape[1])
    tests = []
    for start in range(0, len(first), size):
        some = slice(start, start + size)
        given = values[first[some]], values[second[some]]
        tests.append(paired_test(*given, method, alternative, confidence=confidence, repeats=_PERMUTATIONS))
    return PairedTest._make(_joined(fields) for fields in zip(*tests, strict=True))


def _joined(fields: Sequence[Values | None]) -> Values | None:
    return np.concatenate([field for field in fields if field is not None]) if fields[0] is not None else None


def pairs_of(runs: Sequence[str], baseline: str | None) -> tuple[Integers, Integers]:
    """Return the runs of each pair to test, by position: of all pairs, or of each run with the baseline."""
    if baseline is None:
        return np.triu_indices(len(runs), 1)
    if not isinstance(baseline, str) or baseline not in runs:
        hint = did_you_mean(baseline, runs) if isinstance(baseline, str) else ""
        hint = hint or f"; there are {', '.join(runs[:_SHOWN])}{', …' if len(runs) > _SHOWN else ''}"
        raise InputError("baseline", f"there is no run {shown(baseline)}{hint}")
    place = list(runs).index(baseline)
    others = np.delete(np.arange(len(runs)), place)
    return others, np.full(len(others), place)


def checked(test: object, correction: object) -> Procedure:
    """Return the procedure for the names of a test and a correction; raise InputError if they are not valid.

    The correction None stands for "holm", and for "none" with "tukey" and "randomised-tukey".
    """
    name = one_of("test", test, TESTS)
    if correction is not None:
        one_of("correction", correction, CORRECTIONS)
        if name in _OF_FAMILY and correction != "none":
            problem = f"the test '{name}' corrects for the number of runs itself; leave out the correction"
            raise InputError("correction", problem)
    default = "none" if name in _OF_FAMILY else "holm"
    return Procedure(cast(PairTest, name), cast(Correction, default if correction is None else correction))
