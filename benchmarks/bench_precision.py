"""The time of evaluating coarse scores, or scores with noise, compared with evaluating the scores as they are."""

from functools import partial

import numpy as np
import pytest

import tieaware
from tieaware.defaults import PRECISION_MEASURES
from tieaware.precision import Gaussian, Gumbel, Uniform, best_thresholds, geometric_thresholds, parse_precision

MEASURES = ("AP", "RR")
# The highest ratio of each precision.
TARGETS = {
    "bands:1.5": 1.8, "float32": 1.2, "float16": 1.5, "bfloat16": 1.5, "decimals:2": 1.5, "significant:3": 4.0,
    "levels:11": 2.0, "gap:0.001": 4.0,
}  # fmt: skip
# The highest ratio of coarse scores themselves to a copy, and for those that need sorted scores, to a sort.
MOST_COPIES, MOST_SORTS = 3.0, 3.0
# The highest ratio of bounds to a spread, with two and with four gains.
MOST_SPREADS = {False: 5.0, True: 10.0}
# The highest ratio of the choice of a scale to a thousand evaluations.
MOST_THOUSANDS = 5.0
# The highest ratio of the experiment to one evaluation.
MOST_EVALUATIONS = 15.0
RULES = ("average", "optimistic", "run_order")
# Noise that leaves a document that is five places away in doubt; and the highest ratios to a plain call, for it and for
# noise that mixes a hundred documents: about 2 ms.
NOISE = (Gaussian(1.52), Uniform(2.91), Gumbel(1.09))
MOST_CALLS, MOST_CALLS_IF_MIXED = 50.0, 700.0


@pytest.fixture(scope="module")
def lists(small):
    """Return labels, scores and offsets of lists of 1,000 documents, 20 of them relevant."""
    rng = np.random.default_rng(29)
    n_lists = 20 if small else 200
    labels = np.zeros((n_lists, 1000), dtype=np.int32)
    labels[:, :20] = 1
    labels = rng.permuted(labels, axis=1).reshape(-1)
    return labels, rng.normal(size=labels.size), np.arange(n_lists + 1) * 1000


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("precision", TARGETS)
def test_values(compare, lists, precision, ties):
    labels, scores, offsets = lists
    n_lists = len(offsets) - 1
    coarse, plain = (
        tieaware.Evaluator(labels, MEASURES, offsets=offsets, ties=ties, precision=each) for each in (precision, None)
    )
    out = np.empty((n_lists, len(MEASURES)))
    expected = plain(parse_precision(precision).coarsen(scores, offsets))
    compare(
        f"Coarse scores: {n_lists} × 1,000, 20 relevant, AP + RR, one thread, ties: {ties}", precision,
        check=lambda: np.testing.assert_array_equal(coarse(scores), expected),
        contender=partial(coarse, scores, out), of="coarse",
        baseline=partial(plain, scores, out), to="as they are", at_most=TARGETS[precision],
    )  # fmt: skip


@pytest.mark.parametrize("precision", TARGETS)
def test_spread(compare, lists, precision):
    labels, scores, offsets = lists
    n_lists = len(offsets) - 1
    coarse, plain = (
        tieaware.Evaluator(labels, MEASURES, offsets=offsets, precision=each) for each in (precision, None)
    )
    expected = plain.spread(parse_precision(precision).coarsen(scores, offsets))
    compare(
        f"Coarse scores: {n_lists} × 1,000, 20 relevant, AP + RR, one thread, spread", precision,
        check=lambda: np.testing.assert_array_equal(coarse.spread(scores), expected),
        contender=partial(coarse.spread, scores), of="coarse",
        baseline=partial(plain.spread, scores), to="as they are", at_most=TARGETS[precision],
    )  # fmt: skip


@pytest.mark.parametrize("graded", [False, True])
def test_bounds(compare, lists, graded):
    """Compare the time of bounds with that of a spread: two for each step of the gains, with shuffled scores."""
    labels, scores, offsets = lists
    measures = ("nDCG@10", "RBP(gains='label')") if graded else MEASURES
    gains = np.where(labels > 0, np.arange(labels.size) % 3 + 1, 0) if graded else labels
    evaluator = tieaware.Evaluator(gains, measures, offsets=offsets)
    errors = np.random.default_rng(30).uniform(0.0, 0.1, scores.size)

    def check():
        """The bounds hold for scores moved by up to the error, and are those of the spread without an error."""
        bounds, moved = evaluator.bounds(scores, errors), scores + errors * np.sin(np.arange(scores.size))
        values = evaluator(moved)
        assert (bounds.min <= values).all()
        assert (values <= bounds.max).all()
        assert (bounds.min < bounds.max).any()
        np.testing.assert_array_equal(evaluator.bounds(scores, 0), evaluator.spread(scores)[2:])

    compare(
        f"Nearly known scores: {len(offsets) - 1} × 1,000, 20 relevant, one thread",
        "nDCG@10 + RBP of labels 1 to 3" if graded else "AP + RR",
        check=check, contender=partial(evaluator.bounds, scores, errors), of="bounds",
        baseline=partial(evaluator.spread, scores), to="a spread", at_most=MOST_SPREADS[graded],
    )  # fmt: skip


@pytest.mark.parametrize("precision", sorted(TARGETS.keys() - {"gap:0.001"}))
def test_coarsening(compare, lists, precision):
    """Compare the time of coarse scores themselves with that of copying the scores."""
    _, scores, offsets = lists
    coarsening = parse_precision(precision)
    compare(
        f"Coarse scores themselves: {len(offsets) - 1} × 1,000", precision,
        check=lambda: None,
        contender=partial(coarsening.coarsen, scores, offsets), of="coarse",
        baseline=scores.copy, to="a copy", at_most=MOST_COPIES,
    )  # fmt: skip


def test_near_ties(compare, lists):
    """Compare the time of finding groups of near scores with that of sorting the scores."""
    _, scores, offsets = lists
    coarsening, rows = parse_precision("gap:0.001"), scores.reshape(len(offsets) - 1, -1)

    def check():
        """Groups begin where sorted scores are further apart than the tolerance."""
        highest = [set(row) for row in coarsening.coarsen(scores, offsets).reshape(rows.shape).tolist()]
        for sorted_row, found in zip(np.sort(rows, axis=1), highest, strict=True):
            assert found == {*sorted_row[:-1][np.diff(sorted_row) > 0.001].tolist(), sorted_row[-1]}

    compare(
        f"Coarse scores themselves: {len(offsets) - 1} × 1,000", "gap:0.001", check=check,
        contender=partial(coarsening.coarsen, scores, offsets), of="coarse",
        baseline=partial(np.sort, rows, axis=1), to="`np.sort`", at_most=MOST_SORTS,
    )  # fmt: skip


def test_best_thresholds(compare, lists):
    """Compare the time of the best scale of eight levels with a thousand evaluations of the same lists."""
    labels, scores, offsets = lists
    evaluator = tieaware.Evaluator(labels, "AP", offsets=offsets)
    candidates = np.stack([scores] * 100)

    def check():
        """The best scale keeps more than the geometric one, which needs no judgments."""
        scales = best_thresholds(evaluator, scores, 8), geometric_thresholds(scores, 8, offsets)
        best, geometric = (
            tieaware.Evaluator(labels, "AP", offsets=offsets, precision=each).mean(scores)[0] for each in scales
        )
        assert best > geometric

    def evaluations():
        for _ in range(10):
            evaluator.many(candidates)

    compare(
        f"The best scale of 8 levels: {len(offsets) - 1} × 1,000, 20 relevant, AP", "best_thresholds", check=check,
        contender=partial(best_thresholds, evaluator, scores, 8), of="the best scale",
        baseline=evaluations, to="1,000 evaluations", at_most=MOST_THOUSANDS,
    )  # fmt: skip


def drawn(noise, scores, rng):
    """Return 2,000 draws of scores with noise."""
    shape = 2000, len(scores)
    draw = {"Gaussian": rng.normal, "Gumbel": rng.gumbel}.get(type(noise).__name__, partial(rng.uniform, -1.0, 1.0))
    return scores + noise.sizes * draw(size=shape)


@pytest.mark.parametrize("measures", ["nDCG@10", "AP"])
@pytest.mark.parametrize("mixed", ["ten neighbours", "all"])
@pytest.mark.parametrize("noise", NOISE, ids=lambda noise: type(noise).__name__)
def test_noise(compare, small, noise, mixed, measures):
    """Compare lists in which each document is in doubt (by more than 1 %) with ten others, or all, with plain calls."""
    rng = np.random.default_rng(29)
    n, factor, most = (1000, 1.0, MOST_CALLS) if mixed == "ten neighbours" else (100, 20.0, MOST_CALLS_IF_MIXED)
    n = n // 10 if small else n
    labels, scores = rng.permutation(np.arange(n) < n // 10).astype(int), rng.permutation(n).astype(float)
    evaluator, noise = tieaware.Evaluator(labels, measures), type(noise)(factor * noise.sizes)

    def check():
        means = evaluator.many(drawn(noise, scores, rng)).mean(axis=0)
        np.testing.assert_allclose(evaluator.under_noise(scores, noise)[0], means, rtol=0, atol=0.03)

    compare(
        f"Under noise: a list of {n:,}, a tenth relevant, {mixed} in doubt, {measures}", type(noise).__name__,
        check=check, contender=partial(evaluator.under_noise, scores, noise), of="under noise",
        baseline=partial(evaluator, scores), to="a plain call", at_most=most, calls=10,
    )  # fmt: skip


def test_experiment(compare, small):
    """Compare the time of the experiment, with verdicts between runs but without figures, with one evaluation."""
    rng = np.random.default_rng(29)
    n_runs, n_queries = (4, 5) if small else (42, 30)
    documents = [f"d{i}" for i in range(1500)]
    queries = [f"q{i}" for i in range(n_queries)]
    qrels = {query: dict.fromkeys(rng.choice(documents, 50, replace=False).tolist(), 1) for query in queries}
    runs = {
        f"run{r}": {
            query: dict(zip(rng.permutation(documents)[:1000].tolist(), rng.normal(size=1000).tolist(), strict=True))
            for query in queries
        }
        for r in range(n_runs)
    }
    judgments = tieaware.Qrels.from_dict(qrels)
    columns = {name: tieaware.Run.from_dict(run) for name, run in runs.items()}

    def experiment():
        found = tieaware.experiments.banding(judgments, columns, threads=1)
        return found.verdict(), found.pairs.shares()

    evaluate = partial(tieaware.evaluate, judgments, columns, PRECISION_MEASURES, threads=1)
    compare(
        f"How precise do scores need to be? {n_runs} runs × {n_queries} queries × 1,000, default measures",
        "`banding`, 11 values of ρ, with verdicts",
        check=lambda: np.testing.assert_array_equal(
            tieaware.experiments.banding(judgments, columns, threads=1).originals[0],
            tieaware.evaluate(judgments, columns, PRECISION_MEASURES, ties="run_order").values,
        ),
        contender=experiment, of="the experiment", baseline=evaluate, to="one `evaluate`", at_most=MOST_EVALUATIONS,
    )  # fmt: skip
