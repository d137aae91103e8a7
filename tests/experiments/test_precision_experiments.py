"""The precision experiment on small made-up runs and on whole collections."""

import functools

import numpy as np
import pytest

import tieaware
from tieaware.experiments import banding, compare, precision
from tieaware.statistics import kept

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 2, "d1": 1}}
LIST = {"d1": 3.25, "d2": 2.75, "d3": 1.0, "d4": 0.5}
RUNS = {"a": dict.fromkeys(QRELS, LIST), "b": {q: {d: -s for d, s in LIST.items()} for q in QRELS}}


@functools.cache
def banding_of(collection):
    return banding(collection.qrels, list(collection.runs))


@pytest.fixture
def banded(collection):
    return banding_of(collection)


@pytest.mark.parametrize(
    ("name", "ties"), [("bands:2", "run_order"), ("decimals:0", "average"), ("bands:1.5", "run_order"),
                       ("levels:2", "average")],
)  # fmt: skip
def test_values_agree_with_evaluate(name, ties):
    """The experiment computes all bands in one pass over a run; `evaluate` gives the same values one by one."""
    measures = ["AP", "nDCG@2"]
    outcome = precision(QRELS, RUNS, ["bands:1", name, "bands:3"], measures)
    np.testing.assert_array_equal(outcome.values[1], tieaware.evaluate(QRELS, RUNS, measures, precision=name).values)
    np.testing.assert_array_equal(outcome.originals[1], tieaware.evaluate(QRELS, RUNS, measures, ties=ties).values)


def test_a_band_of_two_ranks_has_the_expected_effect():
    """With rho 2, the ranks 2 and 3 tie, so RR of d2 at rank 2 falls from 1/2 to 5/12."""
    outcome = banding(QRELS, RUNS["a"], ["2"], ["RR"])
    np.testing.assert_allclose(outcome.differences[0, 0, :, 0], [0.0, 1 / 2 - 5 / 12, 0.0], atol=1e-15)
    row = dict(zip(outcome.tables()["differences"].columns, outcome.tables()["differences"].rows[0], strict=True))
    assert row["lost"] == pytest.approx(1 / 3)
    assert row["gained"] == 0.0
    assert row["largest loss"] == pytest.approx(1 / 12)
    assert row["possible loss"] == pytest.approx(1 / 12)


def test_verdicts_can_vanish_and_flip():
    """Rounding to whole numbers ties the two documents in most lists; a single level ties them in all lists."""
    n = 30
    qrels = {f"q{i}": {"d1": 1} for i in range(n)}
    better = {f"q{i}": {"d1": 0.9 if i % 5 else 0.1, "d2": 0.8} for i in range(n)}
    worse = {f"q{i}": {"d1": 0.7 if i % 5 else 0.9, "d2": 0.8} for i in range(n)}
    outcome = precision(qrels, {"better": better, "worse": worse}, ["decimals:1", "decimals:0", "levels:1"], ["RR"])
    agree, appear, vanish, flip, signs = outcome.pairs.shares()[:, :, 0].tolist()
    assert (agree, vanish, flip) == ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    assert (appear, signs) == ([0.0] * 3, [0.0, 1.0, 0.0])
    assert outcome.changed[0].tolist() == [[1.0], [1.0]]
    tau, tau_ap = outcome.correlations
    assert (tau[0, 0], tau_ap[0, 0]) == (1.0, 1.0)
    assert np.isnan(tau[2, 0])
    assert np.isnan(tau_ap[2, 0])


def test_a_verdict_can_appear():
    """The mean RRs 1 and 0.975 do not differ significantly. With ties in the first run, 0.75 and 0.975 do."""
    qrels = {f"q{i}": {"d1": 1} for i in range(20)}
    first = {q: {"d1": 0.52, "d2": 0.51} for q in qrels}
    second = {q: {"d1": 0.8 if q != "q0" else 0.1, "d2": 0.2} for q in qrels}
    outcome = precision(qrels, {"1": first, "2": second}, ["decimals:1"], ["RR"])
    assert outcome.pairs.shares()[:, 0, 0].tolist() == [0.0, 1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("measure", ["AP", "ESL"])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_what_is_kept_follows_the_rule_of_kept(generated, share, measure):
    """`compare --keep` and tables decide by the same function; where less is better, the sides change places."""
    outcome = precision(
        generated.qrels, list(generated.runs), ["bands:1", "bands:1.5", "levels:3"], [measure], keep=share, alpha=0.1
    )
    rows = iter(outcome.tables()["runs"].rows)
    kinds = []
    for p in range(3):
        for run in range(len(outcome.runs)):
            sides = outcome.originals[p][run, :, 0], outcome.values[p, run, :, 0]
            expected = kept(*(sides if measure == "AP" else sides[::-1]), share, confidence=0.9)
            ends = [end if np.isfinite(end) else np.nan for end in (expected.low, expected.high)]
            row, unchanged = next(rows), not outcome.differences[p, run].any()
            assert row[7] == ("unchanged" if unchanged else expected.decision)
            np.testing.assert_allclose([np.nan if end is None else end for end in row[8:]], ends, rtol=1e-12)
            assert {1: "keeps", 0: "open", -1: "loses"}[outcome.keeps[p, run, 0]] == expected.decision
            kinds.append(expected.decision)
        summary = dict(zip(outcome.table().columns, outcome.table().rows[p], strict=True))
        counts = [kinds[-len(outcome.runs) :].count(kind) for kind in ("keeps", "loses", "open")]
        assert [summary[name] for name in (f"keep {100 * share:g}%", "lose more", "open")] == counts
    assert len(set(kinds)) > 1


def test_a_run_without_a_changed_value_is_kept():
    """The interval alone would not show that it is kept: the run's mean is not significantly above 0."""
    qrels = {f"q{i}": {"d1": 1} for i in range(8)}
    run = {q: {("d1" if q == "q0" else "d2"): 2.0, "d3": 1.0} for q in qrels}
    outcome = precision(qrels, {"run": run}, ["bands:1", "levels:1"], ["RR"])
    assert outcome.keeps[:, 0, 0].tolist() == [1, 0]
    values = outcome.originals[0][0, :, 0]
    assert kept(values, values).decision == "keeps"
    assert kept(values, 0.999 * values).decision == "open"
    assert [row[-3:] for row in outcome.tables()["runs"].rows] == [("unchanged", None, None), ("open", None, None)]


def test_27_of_42_submitted_runs_change_significantly_by_ap_and_none_by_rr(covid):
    outcome = banding_of(covid)
    verdict = outcome.verdict()
    assert verdict.startswith("bands:1 is the coarsest precision that changes no verdict; bands:1.1 is the first that")
    assert "AP loses 0.00303 on average (significantly in 27 of 42 runs" in verdict
    assert (outcome.changed[-1, :, :2] <= 0.05).sum() == 0


def test_the_largest_loss_and_gain_name_their_run_and_query():
    """The table of differences names the first of several."""
    qrels = {"q1": {"b": 1}, "q2": {"a": 1}}
    runs = {"x": {"q1": {"a": 0.9, "b": 0.8}, "q2": {"a": 0.9, "b": 0.8}}}
    runs["y"] = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"a": 0.9, "b": 0.1}}
    outcome = precision(qrels, runs, ["decimals:0", "decimals:1"], ["RR"])
    rows = outcome.tables()["differences"]
    columns = [rows.columns.index(f"{kind} of run, query") for kind in ("loss", "gain")]
    assert [[row[column] for column in columns] for row in rows.rows] == [["x, q2", "x, q1"], [None, None]]


def test_figures_show_the_direction_of_loss():
    for measure, expected in (("RR", ["loss →", "← gain"]), ("ESL", ["gain →", "← loss"])):
        ax = precision(QRELS, RUNS, ["levels:1"], [measure]).plot()
        assert [text.get_text() for text in ax.texts] == expected


@pytest.mark.parametrize("identity", ["bands:1", "decimals:17"])
def test_a_precision_that_changes_nothing_keeps_all_bits(collection, identity):
    outcome = precision(collection.qrels, list(collection.runs[:6]), [identity], ["RR", "RBP", "AP", "nDCG@10", "P@5"])
    np.testing.assert_array_equal(outcome.values[0], outcome.originals[0])
    assert outcome.pairs.shares()[:, 0].tolist() == [[1.0] * 5, [0.0] * 5, [0.0] * 5, [0.0] * 5, [0.0] * 5]


@pytest.mark.parametrize("baseline", [None, "run 2"])
@pytest.mark.parametrize("correction", ["none", "holm", "bh", "bonferroni"])
def test_verdicts_follow_the_correction_and_the_baseline(correction, baseline):
    """They are those of comparisons of the same values, for each measure and precision on its own."""
    rng = np.random.default_rng(4)
    qrels = {f"q{i}": {"d1": 1} for i in range(12)}
    runs = {
        f"run {r}": {q: dict(zip(["d1", "d2", "d3"], rng.normal([r / 2, 0.0, 0.0]), strict=True)) for q in qrels}
        for r in range(6)
    }
    precisions, measures = ["decimals:1", "levels:1", "decimals:0"], ["RR", "P@1"]
    outcome = precision(qrels, runs, precisions, measures, correction=correction, baseline=baseline)
    rows = []
    for m, measure in enumerate(measures):
        for p, each in enumerate(precisions):
            before, after = (
                compare(result, correction=correction, baseline=baseline)
                for result in (tieaware.evaluate(qrels, runs, measure, precision=way) for way in (None, each))
            )
            changed = np.flatnonzero(before.signs[0] != after.signs[0])
            same = outcome.pairs.shares()[0, p, m]
            assert same == pytest.approx(1.0 - len(changed) / len(before.first))
            for i in changed.tolist():
                names = (before.results.runs[pairs[i]] for pairs in (before.first, before.second))
                ends = [
                    number
                    for side in (before, after)
                    for number in (side.tests[0].p[i], side.adjusted[0][i])[: 1 + (correction != "none")]
                ]
                rows.append((measure, each, *names, *ends))
    table = outcome.tables()["changed-verdicts"]
    short = {"holm": "Holm", "bh": "BH", "bonferroni": "Bonferroni"}.get(correction)
    assert table.columns[4:] == (
        ("difference", "p", short, "difference after", "p after", f"{short} after")
        if short else ("difference", "p", "difference after", "p after")
    )  # fmt: skip
    kept = [i for i, name in enumerate(table.columns) if not name.startswith("difference")]
    found = [tuple(row[i] for i in kept) for row in table.rows]
    assert [row[:4] for row in found] == [row[:4] for row in rows]
    assert any(row[0] == "RR" for row in rows)
    np.testing.assert_allclose([row[4:] for row in found], [row[4:] for row in rows], atol=1e-14)


def test_no_observed_loss_exceeds_the_worst_case(banded):
    """The bounds of the loss also hold for graded labels, and if relevant documents are not retrieved."""
    for (p, m), (loss, gain) in banded.worst.items():
        differences = banded.differences[p, :, :, m]
        assert differences.max() <= loss + 1e-12
        assert -differences.min() <= gain + 1e-12
    rr = {p: worst for (p, m), worst in banded.worst.items() if banded.measures[m].name == "RR"}
    assert all(banded.differences[p, :, :, 0].max() == pytest.approx(rr[p][0], abs=1e-15) for p in rr)


def test_verdicts_on_submitted_runs_mostly_stay(covid):
    agree = banding_of(covid).pairs.shares()[0]
    assert (agree[-1] < 1.0).all()
    assert (agree > 0.95).all()


def test_the_widest_group_of_near_scores_is_reported():
    """Scores of run b chain over 0.3 with a tolerance of 0.1, those of run a do not tie."""
    chain = {f"d{i}": 0.9 - 0.1 * i for i in range(4)}
    runs = {"a": dict.fromkeys(QRELS, LIST), "b": {"q1": LIST, "q2": chain, "q3": {"d1": 0.5}}}
    outcome = precision(QRELS, runs, ["gap:0.11", "decimals:1", "gap:0"], ["RR"])
    (width, run, query), rounded, exact = outcome.widest
    assert (round(width, 12), run, query, rounded) == (0.3, "b", "q2", None)
    assert exact.width == 0.0
    assert "(run, query): gap:0.11: 0.300 (b, q2); gap:0.0: 0 (a, q1)." in outcome.table().notes[-1]
    assert not any("chain" in note for note in precision(QRELS, runs, ["decimals:1"], ["RR"]).table().notes)


def _points(ax, name):
    """Return the heights of the points of a figure's legend entry, by column."""
    (line,) = [line for line in ax.lines if line.get_label() == name]
    x, y = line.get_data()
    return [np.sort(y[np.round(x) == column]) for column in range(1, len(ax.get_xticks()) + 1)]


def test_the_figure_of_changes_has_a_point_for_each_run(generated):
    outcome = banding(generated.qrels, list(generated.runs), ["1", "1.5", "3"], ["AP", "RR"])
    for m, measure in enumerate(("AP", "RR")):
        ax = outcome.drawings()[f"changes-{measure}"].figure().axes[0]
        significant, other = _points(ax, "significant"), _points(ax, "not significant")
        for p in range(3):
            expected = np.maximum(outcome.changed[p, :, m], 1e-6)
            np.testing.assert_allclose(significant[p], np.sort(expected[expected <= 0.05]))
            np.testing.assert_allclose(other[p], np.sort(expected[expected > 0.05]))
        assert [text.get_text() for text in ax.texts] == [str(len(each)) for each in significant]
    assert sum(map(len, significant)) > 0


def test_the_figure_of_pairs_shows_every_changed_verdict(generated):
    """Every changed verdict has an orange point; the box and the grey points are of the pairs with p near the level."""
    outcome = precision(generated.qrels, list(generated.runs), ["decimals:1", "levels:2"], ["AP"])
    ax = outcome.drawings()["p-changes-AP"].figure().axes[0]
    changed, same = _points(ax, "another verdict"), _points(ax, "same verdict")
    for p, name in enumerate(("decimals:1", "levels:2")):
        before, after = (tests.p[p, 0] for tests in outcome.pairs.corrected)
        factors = np.clip(after / before, 1e-3, 1e3)
        verdicts = [tests.verdicts(0.05)[p, 0] for tests in outcome.pairs.corrected]
        moved = verdicts[0] != verdicts[1]
        np.testing.assert_allclose(changed[p], np.sort(factors[moved]))
        assert len(changed[p]) == sum(row[1] == name for row in outcome.tables()["changed-verdicts"].rows)
        near = factors[(before >= 0.005) & (before <= 0.5)]
        low, high = np.quantile(near, (0.1, 0.9))
        kept = factors[(before >= 0.005) & (before <= 0.5) & ~moved]
        assert len(same[p]) == ((kept < low) | (kept > high)).sum()
        box = ax.patches[p].get_path().vertices[:, 1]
        np.testing.assert_allclose([box.min(), box.max()], np.quantile(near, (0.25, 0.75)))
    assert sum(map(len, changed)) > 0
    assert [text.get_text() for text in ax.texts] == [str(len(each)) for each in changed]


def test_the_figure_of_pairs_without_a_p_near_the_level_has_no_box():
    qrels = {f"q{i}": {"d1": 1} for i in range(9)}
    runs = {name: {q: {"d1": 1.0 * good, "d2": 0.5} for q in qrels} for name, good in (("a", 1), ("b", 0))}
    (ax,) = precision(qrels, runs, ["decimals:1"], ["RR"]).drawings()["p-changes-RR"].figure().axes
    assert [text.get_text() for text in ax.texts] == ["0"]


def test_the_figure_of_differences_shows_the_values_beyond_the_whiskers(generated):
    outcome = banding(generated.qrels, list(generated.runs), ["1.5", "3"], ["AP"])
    flat = outcome.differences[..., 0].reshape(2, -1)
    low, high = np.quantile(flat, (0.1, 0.9), axis=1)[:, :, None]
    lines = [
        line for line in outcome.drawings()["differences-AP"].figure().axes[0].lines if line.get_markersize() == 3.0
    ]
    assert [len(line.get_xdata()) for line in lines] == [(flat > high).sum(), (flat < low).sum()]
    assert {line.get_color() for line in lines} == {"#D55E00", "#009E73"}


def test_the_figures_of_a_single_run_have_no_pairs():
    assert set(precision(QRELS, RUNS["a"], ["levels:1"], ["RR"]).drawings()) == {"differences-RR", "changes-RR"}


@pytest.mark.parametrize(
    ("precisions", "style"), [(["decimals:1", "decimals:0"], "-"), (["decimals:0", "float16"], "None")]
)
def test_a_line_joins_precisions_of_one_kind_only(precisions, style):
    """Decimals have an order; float16 is neither before nor after them."""
    ax = precision(QRELS, RUNS, precisions, ["RR", "AP"]).drawings()["tau"].figure().axes[0]
    assert ax.lines[0].get_linestyle() == style
    assert len(ax.get_legend().get_texts()) == 2
