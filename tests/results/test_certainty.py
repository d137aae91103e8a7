"""Intervals, ranks and groups of results: by the functions of statistics, and as they are shown."""

import numpy as np
import pytest

import tieaware
from tieaware import InputError
from tieaware.statistics import mean_interval, paired_test, rank_intervals, ratio_interval

QRELS = {f"q{i}": {"a": 1, "b": 2, "c": 0} for i in range(24)}
MEASURES = ["AP", "RR", "ESL", "NumRel", "GMAP", "infAP"]


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(3)

    def run(shift):
        return {q: {d: float(rng.integers(0, 5) + shift * (d in "ab")) for d in "abcdefgh"} for q in QRELS}

    return tieaware.evaluate(QRELS, {"low": run(0), "high": run(3), "same": run(0)}, MEASURES, spread=True)


def test_intervals_are_those_of_statistics(results):
    found = results.intervals(0.9, method="bca", seed=4, resamples=300)
    expected = mean_interval(results.values, "bca", level=0.9, axis=1, seed=4, resamples=300)
    for name, values in zip(("estimate", "low", "high", "std_error"), expected, strict=True):
        values[:, 3:5] = np.nan  # a count, and a geometric mean
        np.testing.assert_array_equal(getattr(found, name), values)
    assert found["high", "AP"] == (found.low[1, 0], found.high[1, 0])
    assert (found.runs, found.measures, found.level, found.method) == (results.runs, results.names, 0.9, "bca")


def test_differences_and_ratios(results):
    values = results.values
    difference = results.intervals(baseline="same")
    expected = paired_test(values[0, :, 0], values[2, :, 0])
    assert difference["low", "AP"] == pytest.approx((expected.low, expected.high), rel=1e-13)
    assert difference["same", "AP"] == (0.0, 0.0)
    ratio = results.intervals(baseline="same", ratio=True)
    found = ratio_interval(values[1, :, 1], values[2, :, 1])
    assert ratio["high", "RR"] == pytest.approx((float(found.low), float(found.high)), rel=1e-13)
    assert ratio.std_of_ties is None
    assert ratio.share_of_ties is None


def test_the_part_that_is_due_to_ties(results):
    """The std over orders of ties is that of the mean; simulated orders have the sum of both variances."""
    found = results.intervals()
    expected = results.mean_std()
    expected[:, 3] = np.nan
    np.testing.assert_array_equal(found.std_of_ties, expected)
    share = found.std_of_ties[0, 0] ** 2 / (found.std_of_ties[0, 0] ** 2 + found.std_error[0, 0] ** 2)
    assert found.share_of_ties[0, 0] == pytest.approx(share)
    difference = results.intervals(baseline="same")
    both = np.hypot(expected[0, 0], expected[2, 0])
    assert difference.std_of_ties[[0, 2], 0] == pytest.approx([both, 0.0])
    assert tieaware.evaluate(QRELS, {"r": {q: {"a": 1.0} for q in QRELS}}, "AP").intervals().std_of_ties is None


def test_ranks_are_those_of_statistics(results):
    table = results.ranks(0.9, resamples=300)
    ap, esl = (
        rank_intervals(sign * results.values[:, :, at], level=0.9, resamples=300) for at, sign in ((0, 1), (2, -1))
    )
    rows = {row[0]: row[1:] for row in table.rows}
    for i, run in enumerate(results.runs):
        assert rows[run][0].text == f"{ap.low[i]}–{ap.high[i]}"
        assert rows[run][2].text == f"{esl.low[i]}–{esl.high[i]}"
        assert rows[run][3] is rows[run][4] is None


def test_groups_follow_the_tests_of_the_table(results):
    assert results.groups() == (("high",), ("low", "same")) or results.groups() == (("high",), ("same", "low"))
    # By ESL, less is better.
    assert results.groups("ESL")[0] == ("high",)
    table = results.table(groups=True, spread="interval")
    marks = {row[0].value: row[1].raised for row in table.rows}
    assert marks == {"high": "a", "low": "b", "same": "b"}
    low, high = results.intervals()["high", "AP"]
    assert next(row for row in table.rows if row[0].value == "high")[1].beside == f"[{low:.3f}, {high:.3f}]"
    assert "runs that share a letter are not significantly different" in str(table)
    assert "the interval of the mean over queries" in str(table)
    assert tieaware.evaluate(QRELS, {"r": {q: {"a": 1.0} for q in QRELS}}, "AP").groups() == (("r",),)


def test_tables_of_many_runs_have_letters_of_groups():
    rng = np.random.default_rng(0)
    runs = {f"r{j:02}": {q: {d: rng.random() + 0.1 * j * (d == "a") for d in "abc"} for q in QRELS} for j in range(14)}
    results = tieaware.evaluate(QRELS, runs, "nDCG")
    table, groups = results.table(groups=True), results.groups()
    for row in table.rows:
        member = "".join("abcdefghijklmn"[i] for i, group in enumerate(groups) if row[0].value in group)
        assert row[1].raised == member
    assert len(table.columns) == 2


def test_they_are_shown(results):
    text = str(results.intervals(baseline="low"))
    assert "AP Δ" in text
    assert "the difference from low over queries (Student's t, level 0.95)" in text
    assert "AP ÷" in str(results.intervals(baseline="low", ratio=True, method="bca"))
    assert results.intervals()._repr_html_().startswith("<")
    assert repr(results.intervals()).startswith("Means over 24 queries")
    ax = results.intervals(baseline="low").plot(measure="RR")
    assert next(tick.get_text() for tick in ax.get_yticklabels()) == "high"
    assert ax.get_xlabel().startswith("RR minus that of low")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: r.intervals(1.5), InputError, "level: "),
        (lambda r: r.intervals(method="normal"), InputError, "method: "),
        (lambda r: r.intervals(ratio=True), InputError, "ratio: needs a baseline"),
        (lambda r: r.intervals(baseline="lo"), InputError, "baseline: there is no run 'lo'"),
        (lambda r: r.intervals()["lo", "AP"], KeyError, ".there is no run 'lo'"),
        (lambda r: r.intervals()["low"], TypeError, "write intervals"),
        (lambda r: r.groups("nDCG"), KeyError, ""),
        (lambda r: r.groups("NumRel"), InputError, "measure: the summary of NumRel is not an arithmetic mean"),
        (lambda r: r.groups(test="z"), InputError, "test: "),
        (lambda r: r.table(groups=True, baseline="low"), InputError, "groups: needs a test of all pairs"),
        (lambda r: r.table(groups=True, test="none"), InputError, "groups: needs a test of all pairs"),
    ],
)
def test_bad_input(results, call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call(results)


def test_results_that_cannot_be_tested():
    one = tieaware.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP")
    partly = tieaware.evaluate(
        {"q": {"a": 1}, "p": {"a": 1}}, {"r": {"q": {"a": 1.0}}, "s": {"p": {"a": 1.0}}}, "AP", queries="both"
    )
    for method in ("intervals", "ranks", "groups"):
        with pytest.raises(InputError, match=f"^{method}: needs at least two queries; there are 1"):
            getattr(one, method)()
        with pytest.raises(InputError, match=f"^{method}: needs a value of each run on each query"):
            getattr(partly, method)()
    with pytest.raises(InputError, match=r"^spread: intervals need at least two queries"):
        one.table(test="none", spread="interval")


def test_the_command_shows_groups_and_intervals(tmp_path, printed, refused):
    rng = np.random.default_rng(5)
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 a 1\n" for i in range(12)))
    runs = []
    for name in ("one", "two"):
        rows = [f"q{i} Q0 {d} 1 {rng.integers(0, 4)} {name}\n" for i in range(12) for d in "abc"]
        (tmp_path / name).write_text("".join(rows))
        runs.append(str(tmp_path / name))
    result = tieaware.evaluate(str(tmp_path / "qrels"), runs, "RR")
    low, high = result.intervals()["one", "RR"]
    command = f"eval {tmp_path}/qrels {' '.join(runs)} --groups"
    lines = printed(f"{command} --table text --beside interval -m RR").splitlines()
    row = next(line for line in lines if line.startswith("one"))
    assert row.endswith(f"[{low:.3f}, {high:.3f}]")
    assert " a " in row
    assert refused(command) == "--groups requires --table; see tieaware eval --help\n"
