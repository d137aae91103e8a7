"""The coarsest precision that is safe: against a loop over all candidates, each of which is evaluated by itself."""

import re
import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware import AP, ESL, RR, nDCG
from tieaware.experiments import precision
from tieaware.precision import Bands, Decimals, Levels, parse_precision
from tieaware.precision.ladders import FAMILIES
from tieaware.statistics import kept

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")

DOCUMENTS, N = 30, 12
RNG = np.random.default_rng(8)
QRELS = {f"q{i}": {f"d{d}": int(RNG.integers(1, 3)) for d in RNG.permutation(DOCUMENTS)[:5]} for i in range(N)}


def noisy_run(weight, scale=1.0):
    """Return a run whose scores depend on the labels by a weight; its scores lie between 0 and about 2 · scale."""
    return {
        q: {f"d{d}": float(scale * (RNG.random() + weight * labels.get(f"d{d}", 0))) for d in range(DOCUMENTS)}
        for q, labels in QRELS.items()
    }


RUNS = {f"run {i}": noisy_run(weight) for i, weight in enumerate((0.0, 0.1, 0.2, 0.2, 0.4, 0.5))}
# Scores so near that few decimals make them all equal.
SCALED = {**RUNS, "scaled": noisy_run(0.3, scale=1e-4)}
MEASURES = [AP, RR, nDCG @ 10]
ALL = (*MEASURES, ESL)


@cache
def evaluated(ties, coarsening, scaled):
    results = tieaware.evaluate(QRELS, SCALED if scaled else RUNS, ALL, ties=ties, precision=coarsening, threads=1)
    return dict(zip(ALL, np.moveaxis(results.values, 2, 0), strict=True))


def values_of(measure, coarsening, *, scaled=True):
    """Return the values before and after, runs × queries; bands are compared with the run's own order."""
    ties = "run_order" if isinstance(coarsening, Bands) else "average"
    return evaluated(ties, None, scaled)[measure], evaluated("average", coarsening, scaled)[measure]


def failing(keep, before, after, measure):
    """Return the pairs of runs, or the runs, that fail, by SciPy's paired t-tests of all pairs."""
    if isinstance(keep, str):
        pairs = list(combinations(range(len(before)), 2))
        signs = []
        for values in (before, after):
            differences = np.array([values[a] - values[b] for a, b in pairs])
            mean = np.where(np.abs(differences.mean(axis=1)) < 1e-12, 0.0, differences.mean(axis=1))
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                p = stats.ttest_1samp(differences, 0.0, axis=1).pvalue
            signs.append(np.sign(mean) * ((p <= 0.05) if keep == "verdicts" else 1.0))
        return [pair for pair, old, new in zip(pairs, *signs, strict=True) if old != new]
    sides = [(new, old) if measure == ESL else (old, new) for old, new in zip(before, after, strict=True)]
    return [(r,) for r, side in enumerate(sides) if kept(*side, keep).decision != "keeps"]


@cache
def failing_of(measure, coarsening, keep, *, scaled=True):
    return failing(keep, *values_of(measure, coarsening, scaled=scaled), measure)


def first_failure(failures):
    """Return the positions of the last candidate before the first failure, and of that; None where there is none."""
    for i, failed in enumerate(failures):
        if failed:
            return (i - 1 if i else None), i
    return len(failures) - 1, None


def at(candidates, place):
    return None if place is None else candidates[place]


@pytest.mark.parametrize("keep", ["verdicts", "order", 0.9])
@pytest.mark.parametrize(
    "tried",
    [
        [f"bands:{rho}" for rho in (1, 1.05, 1.1, 1.101, 1.15, 1.2, 1.5, 2, 3)],
        [f"decimals:{n}" for n in (4, 3, 2, 1, 0)],
        [f"levels:{n}" for n in (100, 50, 20, 10, 5, 2)],
        ["float32", "float16", "bfloat16"],
    ],
)  # fmt: skip
def test_lists_of_precisions(tried, keep):
    """The order in which the precisions are given does not matter."""
    candidates = [parse_precision(each) for each in tried]
    given = [candidates[i] for i in np.random.default_rng(2).permutation(len(candidates))]
    found = precision(QRELS, SCALED, given, ALL).coarsest(keep)
    rows = iter(found.tables()["runs"].rows)
    places = []
    for measure, limit in zip(ALL, found.limits, strict=True):
        failures = [failing_of(measure, each, keep) for each in candidates]
        safe, fails = first_failure(failures)
        places.append(safe)
        expected = at(candidates, safe), at(candidates, fails), len(at(failures, fails) or ())
        assert limit[:4] == (measure, *expected)
        for r, run in enumerate(SCALED):
            ends = first_failure([any(r in each for each in failed) for failed in failures])
            names = [None if place is None else str(candidates[place]) for place in ends]
            assert next(rows)[:4] == (str(measure), run, *names)
    assert found.precision == (None if None in places else candidates[min(places)])


@pytest.mark.parametrize(
    ("name", "keep"),
    [("bands", "verdicts"), ("levels", "order"), ("decimals", 0.9), ("decimals", "order"), ("significant", "verdicts"),
     ("floats", 0.99)],
)  # fmt: skip
def test_a_search_finds_the_first_failure(name, keep):
    """Up to the first failure, all numbers of the grid keep everything; the failing number follows the safe one."""
    family = FAMILIES[name]
    outcome = precision(QRELS, RUNS, name, MEASURES[:2], keep=keep)
    found = outcome.coarsest()
    assert found.keep == keep
    grid = [family.precision(n) for n in family.grid]
    for limit in found.limits:
        place = next((i for i, each in enumerate(grid) if failing_of(limit.measure, each, keep, scaled=False)), None)
        if place is None:
            assert limit[1:4] == (grid[-1], None, 0)
        elif place == 0:
            assert limit[1:3] == (None, grid[0])
        else:
            fine, coarse = family.grid[place - 1], family.grid[place]
            ends = min(fine, coarse), max(fine, coarse) + 1
            between = {str(family.precision(n)): n for n in range(*ends)}
            assert abs(between[str(limit.fails)] - between[str(limit.coarsest)]) == 1
            assert not failing_of(limit.measure, limit.coarsest, keep, scaled=False)
        if limit.fails is not None:
            assert len(failing_of(limit.measure, limit.fails, keep, scaled=False)) == limit.failures > 0


def test_a_search_finds_up_to_where_at_most_one_percent_of_the_pairs_fail():
    """One of 120 pairs may change its verdict; the next number changes two, and none of the grid before it does."""
    rng, family = np.random.default_rng(5), FAMILIES["bands"]
    runs = {
        f"run {i}": {q: {f"d{d}": rng.random() + 0.04 * i * labels.get(f"d{d}", 0) for d in range(DOCUMENTS)}
                     for q, labels in QRELS.items()} for i in range(16)
    }  # fmt: skip
    found = precision(QRELS, runs, "bands", MEASURES[:2], keep="verdicts").coarsest()
    numbers = {str(family.precision(n)): n for n in range(10_001, 30_000)}
    apart = 0
    for limit in found.limits:
        before = tieaware.evaluate(QRELS, runs, limit.measure, ties="run_order").values[:, :, 0]

        def few_fail(number, before=before, measure=limit.measure):
            after = tieaware.evaluate(QRELS, runs, measure, precision=family.precision(number)).values[:, :, 0]
            return len(failing("verdicts", before, after, measure)) < 2

        safe, few = numbers[str(limit.coarsest)], numbers[str(limit.few)]
        assert all(few_fail(number) for number in (*(n for n in family.grid if safe <= n < few), few))
        assert not few_fail(few + 1)
        apart += few - safe
    assert apart > 0


def test_a_search_answers_everything_that_was_not_named():
    """Without `keep`, it ends where everything has failed, and its answers are those of a search for each."""
    outcome = precision(QRELS, RUNS, "bands", ["AP", "RR"])
    assert set(outcome.known) == {"verdicts", "order", 0.99}
    for keep in ("verdicts", "order", "99%"):
        of_one = precision(QRELS, RUNS, "bands", ["AP", "RR"], keep=keep).coarsest()
        assert outcome.coarsest(keep).limits == of_one.limits
        # What a search has counted is what the experiment counts from its values.
        known = outcome.known.pop(of_one.keep)
        for stored, counted in zip(known, outcome.coarsest(keep)._failures, strict=True):
            np.testing.assert_array_equal(stored, counted)


def test_a_search_ends_early():
    """Where one precision of the first batch fails for all pairs, the rest of the grid is not tried."""
    qrels = {f"q{i}": {"d1": 1} for i in range(9)}
    runs = {name: {q: {"d1": score, "d2": 0.5} for q in qrels} for name, score in (("a", 0.5001), ("b", 0.4999))}
    levels = precision(qrels, runs, "levels", ["RR"], keep="verdicts")
    # With any number of levels above one, the two documents have different levels.
    assert [str(each) for each in (levels.precisions[0], levels.precisions[-1])] == ["levels:99000", "levels:1"]
    decimals = precision(qrels, runs, "decimals", ["RR"], keep="verdicts")
    assert decimals.coarsest().precision == Decimals(4)
    bands = precision(qrels, runs, "bands", ["RR"], keep="verdicts")
    assert bands.coarsest().limits[0][1:4] == (Bands("2"), Bands("2.0001"), 1)
    assert str(bands.precisions[-1]) != "bands:10.9"


def test_what_counts_is_the_first_failure():
    """With a rho of 1.12, no band lies across rank 10 any more; the coarser one is not safe because 1.101 fails."""
    qrels = {f"q{i}": {"d9": 1} for i in range(9)}
    first = {q: {f"d{d}": 100.0 - d for d in range(20)} for q in qrels}
    second = {q: {**run, "d9": 89.5, "d10": 90.5} for q, run in first.items()}
    tried = ["bands:1.1", "bands:1.101", "bands:1.12"]
    across = [11 not in parse_precision(each).starts(20) for each in tried]
    assert across == [False, True, False]
    found = precision(qrels, {"first": first, "second": second}, tried, ["nDCG@10"]).coarsest()
    assert found._failures.counts[:, 0].tolist() == [0, 1, 0]
    (limit,) = found.limits
    assert (str(limit.coarsest), str(limit.fails), limit.reason) == (
        "bands:1.1", "bands:1.101", "a band holds ranks 10 and 11",
    )  # fmt: skip
    assert found.verdict() == (
        "bands:1.1 is the coarsest precision that changes no verdict; bands:1.101 is the first that does (nDCG@10; a "
        "band holds ranks 10 and 11)."
    )
    searched = precision(qrels, {"first": first, "second": second}, "bands", ["nDCG@10"], keep="verdicts").coarsest()
    assert searched.limits[0][1:3] == (Bands("1.1"), Bands("1.1001"))


def test_a_badly_scaled_run_is_named():
    found = precision(QRELS, SCALED, [f"decimals:{n}" for n in range(5, 0, -1)], ["AP"]).coarsest("order")
    (limit,) = found.limits
    others = precision(QRELS, RUNS, [f"decimals:{n}" for n in range(5, 0, -1)], ["AP"]).coarsest("order")
    assert others.precision.rung > limit.coarsest.rung
    with_it = "only" if limit.failures == 1 else "all with"
    assert f"{with_it} scaled, without which {others.precision} is safe" in limit.reason
    assert limit.reason in found.verdict()


def vectors(n_queries=60, n_documents=400, size=32):
    """Return judgments, and runs of dot products: in float64, in float16, and of vectors of few bits, whole numbers."""
    rng = np.random.default_rng(4)
    documents = rng.normal(size=(n_documents, size))
    relevant = np.stack([rng.choice(n_documents, 5, replace=False) for _ in range(n_queries)])
    queries = documents[relevant].mean(axis=1) + 0.4 * rng.normal(size=(n_queries, size))

    def whole(array, bits):
        return np.round((2 ** (bits - 1) - 1) * array / np.abs(array).max()).astype(np.int64)

    exact = queries @ documents.T
    scores = {"exact": exact, "half": exact.astype(np.float16).astype(float)}
    scores |= {f"int{bits}": whole(queries, bits) @ whole(documents, bits).T for bits in (8, 5, 4)}
    labels = np.zeros(exact.shape, dtype=int)
    np.put_along_axis(labels, relevant, 1, axis=1)
    ids = np.broadcast_to(np.arange(n_documents), exact.shape)
    return labels, {name: (ids, each) for name, each in scores.items()}


def judged(labels):
    return {q: {int(d): 1 for d in np.flatnonzero(row)} for q, row in enumerate(labels)}


def test_a_precision_that_changes_nothing_is_not_called_safe():
    labels, runs = vectors()
    whole = {name: runs[name] for name in ("int8", "int5", "int4")}
    for keep in ("verdicts", "order", "99%"):
        found = precision(judged(labels), whole, "decimals", ["AP", "RR"], keep=keep).coarsest()
        assert found.verdict() == f"No value of AP or RR changes with decimals:15 to decimals:0{UNKNOWN}"
        assert [limit.reason for limit in found.limits] == ["no value changes"] * 2
        assert [row[5] for row in found.tables()["limits"].rows] == ["no value changes"] * 2
    listed = precision(judged(labels), whole, ["decimals:1", "levels:3"], ["AP"])
    assert listed.coarsest().limits[0].reason == "no value changes"
    assert f" No value of AP changes with decimals:1{UNKNOWN} With levels:3, which changes" in listed.verdict()


def test_runs_that_a_precision_does_not_change_are_named():
    labels, runs = vectors()
    unchanged = " No value of int8, int5 and int4 changes with {}, so the answer rests on "
    found = precision(judged(labels), runs, "decimals", ["AP", "RR"], keep="order").coarsest()
    assert found.verdict().endswith(f"{unchanged.format('decimals:15 to decimals:0')}the other 2 runs.")
    listed = precision(judged(labels), runs, ["levels:3", "decimals:0", "levels:9", "float16"], ["AP", "RR"])
    assert f"{unchanged.format('decimals:0')}the other 2 runs. No value of half, int5 " in listed.verdict()
    some = {name: runs[name] for name in ("exact", "int5")}
    assert precision(judged(labels), some, ["decimals:1", "bfloat16"], ["RR"], keep="1%").coarsest().verdict() == (
        "Every run is known to keep 1% with decimals:1 and bfloat16. No value of int5 changes with decimals:1 and "
        "bfloat16, so the answer rests on exact alone."
    )
    copies = {**{f"copy {i}": runs["int4"] for i in range(5)}, "exact": runs["exact"]}
    assert "No value of copy 0, copy 1, copy 2 and 2 more runs changes" in (
        precision(judged(labels), copies, ["decimals:0"], ["RR"]).verdict()
    )  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("keep", ["verdicts", "order", 0.99])
def test_only_runs_whose_values_change_are_blamed(name, keep):
    labels, runs = vectors()
    outcome = precision(judged(labels), runs, name, ["RR", "RBP(p=0.5)", "AP", "nDCG@10"], keep=keep)
    for limit in outcome.coarsest().limits:
        before, after = (
            tieaware.evaluate(judged(labels), runs, limit.measure, ties=ties, precision=each)
            for ties, each in (("run_order" if name == "bands" else "average", None), ("average", limit.fails))
        )
        for run in runs:
            moved = not np.allclose(before[run].values, after[run].values, rtol=0, atol=1e-12)
            named = re.findall(r"(?:only|all with) (\w+)|(\w+) (?:and|against) (\w+)", limit.reason)
            stays = f"{run}, whose values do not change" in limit.reason
            assert moved or stays or not any(run in groups for groups in named), (limit, run)
            assert not (moved and stays)


def test_a_run_in_all_failing_pairs_is_not_blamed_if_its_values_stay():
    """Two decimal scores tie by rounding; the whole numbers of the third run, which is in both pairs, do not change."""
    qrels = {f"q{i}": {"d1": 1} for i in range(10)}
    a, b = ({q: {"d1": 0.5 + near, "d2": 0.5 - near} for q in qrels} for near in (0.02, 0.03))
    whole = {q: {"d1": 1, "d2": 2 * (i % 2)} for i, q in enumerate(qrels)}
    low = {q: {"d1": 1, "d2": 2} for q in qrels}
    tried = ["decimals:2", "decimals:1"]
    found = precision(qrels, {"a": a, "b": b, "whole": whole}, tried, ["RR"]).coarsest("order")
    assert found._failures.by_run[1, 0].tolist() == [1, 1, 2]
    assert found.limits[0].reason == ""
    found = precision(qrels, {"a": a, "whole": whole, "low": low}, tried, ["RR"]).coarsest("order")
    assert found.limits[0].reason == "a against whole, whose values do not change"
    # Without a, no value changes, which does not show that decimals:1 is safe.
    found = precision(qrels, {"a": a, "whole": whole}, tried, ["RR"]).coarsest("90%")
    assert found.limits[0].reason == "only a; it loses more"


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("keep", ["verdicts", "order", 0.9])
def test_the_measure_that_fails_first_is_named(name, keep):
    """It is named with its own reason, if others fail with the same precision."""
    far_from_0 = {run: {q: {d: 4.0 + score for d, score in scores.items()} for q, scores in lists.items()}
                  for run, lists in SCALED.items()}  # fmt: skip
    found = precision(QRELS, far_from_0, name, ALL, keep=keep).coarsest()
    rungs = [np.inf if limit.fails is None else limit.fails.rung[1] for limit in found.limits]
    first = [limit for limit, rung in zip(found.limits, rungs, strict=True) if rung == min(rungs)]
    most = max(first, key=lambda limit: limit.failures)
    start, _, in_parentheses = found.verdict().partition(" (")
    assert f"{most.fails} " in start
    assert in_parentheses.startswith(f"{most.measure}: {most.failures} of {found._failures.total} ")
    assert {str(each) for each in ALL if f"{each}: " in in_parentheses} <= {str(limit.measure) for limit in first}
    if most.reason:
        of_one = f"; by {most.measure}, {most.reason})" if len(first) > 1 else f"; {most.reason})"
        assert of_one in in_parentheses


def test_the_second_sentence_is_about_one_measure():
    """The largest loss of a query is that by the measure before it, although another measure loses more."""
    outcome = precision(QRELS, SCALED, ["decimals:2", "decimals:1", "levels:2"], ALL)
    p, measure, loss = re.search(
        r"With (\S+), which changes values most, (\S+) \w+ .*largest loss of a query is (\S+) \(", outcome.verdict()
    ).groups()
    lost = outcome.differences[[str(each) for each in outcome.precisions].index(p)].max(axis=(0, 1))
    m = [str(each) for each in ALL].index(measure)
    assert float(loss) == pytest.approx(lost[m], rel=0.01)
    assert m != np.argmax(lost)


def test_at_most_one_percent():
    """Of 120 pairs, one may change."""
    runs = {f"run {i}": noisy_run(weight) for i, weight in enumerate(np.linspace(0, 1, 16))}
    candidates = [Bands(rho) for rho in ("1", "1.1", "1.2", "1.5", "2", "4")]
    outcome = precision(QRELS, runs, candidates, MEASURES)
    found = outcome.coarsest("order")
    for m, limit in enumerate(found.limits):
        counts = [
            len(failing("order", before[:, :, m], after[:, :, m], limit.measure))
            for before, after in zip(outcome.originals, outcome.values, strict=True)
        ]
        assert limit.few == at(candidates, first_failure([count > 1 for count in counts])[0])
        assert limit.coarsest == at(candidates, first_failure([count > 0 for count in counts])[0])
    assert any(limit.few != limit.coarsest for limit in found.limits)
    fewest = min((limit.few for limit in found.limits), key=candidates.index)
    assert f" Up to {fewest}, at most 1 % of the pairs of runs change." in found.verdict()
    assert all(limit.few is None for limit in outcome.coarsest(0.9).limits)


UNKNOWN = ", which says nothing about coarser scores; try another kind of precision."
PAIR = {"a": RUNS["run 0"], "b": RUNS["run 5"]}


@pytest.mark.parametrize(
    ("runs", "tried", "keep", "verdict"),
    [
        (PAIR, ["decimals:17", "decimals:16"], None,
         f"No value of AP changes with decimals:17 to decimals:16{UNKNOWN}"),
        (PAIR, ["decimals:17", "float32", "bands:1.3"], "order", "The order of the runs stays the same with bands:1.3. "
         f"No value of AP changes with decimals:17 and float32{UNKNOWN}"),
        (PAIR, ["levels:1"], None, "levels:1 changes verdicts (AP)."),
        (PAIR, ["levels:1", "decimals:17"], None,
         f"levels:1 changes verdicts (AP). No value of AP changes with decimals:17{UNKNOWN}"),
        (PAIR, ["levels:1", "bands:1.3"], None, "levels:1 changes verdicts (AP). No verdict changes with bands:1.3."),
        (PAIR, ["levels:1"], "order", "levels:1 changes the order of the runs (AP)."),
        (PAIR["a"], ["decimals:17", "bands:1"], None, f"No value of AP changes with decimals:17 and bands:1{UNKNOWN}"),
        (PAIR["a"], ["decimals:2", "levels:99"], "50%", "The run is known to keep 50% with decimals:2 and levels:99."),
        (PAIR["b"], ["levels:1", "levels:2"], None,
         "levels:2, the finest tried, is not known to keep 99% of the run (AP; it loses more)."),
        (PAIR["b"], ["decimals:17", "decimals:0"], "80%",
         "decimals:17 is the coarsest precision that lets the run keep 80%; decimals:0 is the first that may not (AP; "
         "it loses more)."),
        (RUNS, ["bands:1", "levels:1"], 0.999,
         "levels:1 is not known to keep 99.9% of every run (AP: 6 of 6 runs; 5 lose more, 1 is open). No value of "
         f"AP changes with bands:1{UNKNOWN}"),
    ],
)  # fmt: skip
def test_the_sentence(runs, tried, keep, verdict):
    assert precision(QRELS, runs, tried, ["AP"]).coarsest(keep).verdict() == verdict


def test_a_baseline_has_no_pairs_of_its_own():
    options = {"baseline": "run 0", "correction": "holm"}
    outcome = precision(QRELS, RUNS, ["bands:1", "levels:3"], ["AP", "RR"], **options)
    for keep in ("verdicts", "order"):
        found = outcome.coarsest(keep)
        assert {row[1] for row in found.tables()["runs"].rows} == {f"run {i}" for i in range(1, 6)}
        assert found._failures.total == 5
        np.testing.assert_array_equal(found._failures.by_run.sum(axis=2), found._failures.counts)
    rows = outcome.tables()["changed-verdicts"].rows
    assert found.experiment.coarsest("verdicts")._failures.counts.sum() == len(rows)


def test_runs_that_may_not_keep_their_share_have_an_interval():
    measures = [AP, ESL]
    table = precision(QRELS, SCALED, ["float32", "levels:3"], measures).coarsest("95%").tables()["runs"]
    rows = [row for row in table.rows if row[3] == "levels:3"]
    for row in rows:
        measure = tieaware.parse_measure(row[0])
        before, after = (values[list(SCALED).index(row[1])] for values in values_of(measure, Levels(3)))
        expected = kept(*((after, before) if measure == ESL else (before, after)), 0.95)
        ends = [end if np.isfinite(end) else None for end in (expected.low, expected.high)]
        assert row[4:] == (1, expected.decision, *ends, expected.needed)
    assert {row[5] for row in rows} == {"open", "loses"}
    assert table.columns[5:] == ("decision", "kept from", "kept to", "queries needed")


def test_tables_and_the_figure_have_all_precisions_that_were_tried():
    tried = [f"levels:{n}" for n in range(100, 0, -2)]
    outcome = precision(QRELS, RUNS, tried, ["AP", "RR"])
    found = outcome.coarsest()
    tried = found.tables()["tried"]
    assert len(tried.rows) == 2 * len(outcome.precisions) == 100
    ax = found.drawings()["failures"].figure().axes[0]
    assert len(ax.get_xticks()) <= 30
    for line, measure in zip(ax.lines, ("AP", "RR"), strict=True):
        np.testing.assert_allclose(line.get_ydata(), [row[3] for row in tried.rows if row[0] == measure])


@pytest.mark.parametrize(
    ("keep", "found"),
    [
        ("verdict", "'verdict'"), ("%", "'%'"), (0.0, "0.0"), (99, "99"), ("99", "'99'"), ("nan%", "'nan%'"),
        (True, "True"), ("", "''"),
    ],
)  # fmt: skip
def test_unknown_things_to_keep(keep, found):
    message = f"keep: expected 'verdicts', 'order' or a share such as 99% or 0.99, found {found}"
    assert message_of(precision, QRELS, RUNS, "bands:2", ["AP"], keep=keep) == message
    assert message_of(precision(QRELS, RUNS, "bands:2", ["AP"]).coarsest, keep) == message


@pytest.mark.parametrize("keep", ["verdicts", "order"])
def test_pairs_need_two_runs(keep):
    expected = f"keep: '{keep}' needs at least two runs; with one run, write a share such as '99%'"
    for tried in ("bands:2", "bands"):
        assert message_of(precision, QRELS, PAIR["a"], tried, ["AP"], keep=keep) == expected
    assert message_of(precision(QRELS, PAIR["a"], "bands:2", ["AP"]).coarsest, keep) == expected


def test_one_query_cannot_be_compared():
    expected = "qrels: expected at least 2 queries to compare over, found 1"
    assert message_of(precision, {"q0": QRELS["q0"]}, RUNS, "levels", ["AP"]) == expected


def test_the_verdicts_of_submitted_runs(covid):
    """The first band of two ranks in nDCG@10 is that of the ranks 10 and 11, which begins with a rho above 1.1."""
    found = precision(covid.qrels, list(covid.runs), "bands", ["AP", "nDCG@10"], keep="verdicts").coarsest()
    assert [[str(each) for each in limit[1:3]] for limit in found.limits] == [
        ["bands:1.0077", "bands:1.0078"], ["bands:1.1", "bands:1.1001"],
    ]  # fmt: skip
    assert found.limits[1].reason == "a band holds ranks 10 and 11"
