"""The table for a paper: significance letters, compared with SciPy; best means in bold; the spread; LaTeX."""

import inspect
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from support.errors import message_of

import tieaware
from tieaware import InputError, Results
from tieaware.experiments import compare
from tieaware.output.tables import Table
from tieaware.results.paper_table import Design, _shown_p
from tieaware.statistics import benjamini_hochberg, bonferroni, kept, paired_test, randomised_tukey_hsd, tukey_hsd
from tieaware.statistics.procedures import TESTS

RUNS = ("bm25_base", "dense & [x]*", "cross--encoder", "lists|$%")


@pytest.fixture(scope="module")
def results():
    """Return results of runs, some of them alike, with counts and with measures where more, or less, is better."""
    rng = np.random.default_rng(1)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(20)} for i in range(30)}
    runs = {
        run: {q: {d: float(np.round(n * w + rng.normal())) for d, n in docs.items()} for q, docs in qrels.items()}
        for run, w in zip(RUNS, (0.2, 1.0, 1.6, 0.3), strict=True)
    }
    return tieaware.evaluate(qrels, runs, ["map", "ESL", "num_ret", "gm_map"], spread=True)


def letters(table, column):
    """Return the letters after the means of a column, and the letters after the names of the runs."""
    return [row[column].raised for row in table.rows], [row[0].raised for row in table.rows]


def holm(p):
    """Compute p values with Holm's correction from its definition."""
    order = sorted(range(len(p)), key=p.__getitem__)
    return [max(min(1, (len(p) - k) * p[j]) for k, j in enumerate(order[: order.index(i) + 1])) for i in range(len(p))]


def many_runs(n=12):
    """Return results of more runs than get letters; the last but one is the best."""
    rng = np.random.default_rng(3)
    values = rng.random((n, 20, 2)) / 2 + np.linspace(0, 0.4, n)[:, None, None]
    values[-2] += 0.2
    return Results(values, tuple(f"r{i}" for i in range(n)), tuple(map(str, range(20))), (tieaware.ESL, tieaware.AP))


CORRECTED = {"holm": holm, "none": list, "bh": benjamini_hochberg, "bonferroni": bonferroni}


@pytest.mark.parametrize("correction", CORRECTED)
@pytest.mark.parametrize("column", [1, 2])
def test_letters_are_those_of_the_runs_that_are_worse_by_scipy(results, column, correction):
    values, sign = results.values[:, :, column - 1], (1, -1)[column - 1]
    pairs = list(combinations(range(4), 2))
    p = [float(scipy.stats.ttest_rel(values[a], values[b]).pvalue) for a, b in pairs]
    p = CORRECTED[correction](p)
    beaten = [""] * 4
    for i, (a, b) in enumerate(pairs):
        if p[i] < 0.05:
            winner, loser = (a, b) if sign * (values[a].mean() - values[b].mean()) > 0 else (b, a)
            beaten[winner] += "abcd"[loser]
    found, of_runs = letters(results.table(correction=correction), column)
    assert (found, of_runs) == (beaten, list("abcd"))
    assert any(beaten)


def test_the_best_is_in_bold(results):
    """The best mean is the minimum where less is better. Counts have none in bold. Equal best means are all in bold."""
    table = results.table(test="none")
    assert [[row[m].bold for row in table.rows].index(True) for m in (1, 2, 4)] == [2, 2, 2]
    assert not any(row[3].bold for row in table.rows)
    assert "bold" not in str(results.table(best=False, test="none")).lower()
    equal = Results(np.full((2, 2, 1), 0.1), ("x", "y"), ("q", "p"), (tieaware.AP,))
    assert [row[1].bold for row in equal.table().rows] == [True, True]
    assert letters(equal.table(), 1)[0] == ["", ""]


@pytest.mark.parametrize("correction", CORRECTED)
def test_with_a_baseline_daggers_differences_and_p_values(results, correction):
    """Each run is compared with the baseline; where less is better, a smaller mean gets a dagger."""
    table = results.table(baseline="lists|$%", correction=correction)
    assert table.columns == ("run", "map", "Δ map", "p map", "ESL", "Δ ESL", "p ESL", "num_ret", "gm_map")
    assert [row[0].raised for row in table.rows] == [""] * 4
    exported = table.to_dict()
    for m, (name, sign) in enumerate((("map", 1), ("ESL", -1))):
        values = results.values[:, :, m]
        p = CORRECTED[correction]([float(scipy.stats.ttest_rel(values[i], values[3]).pvalue) for i in range(3)])
        np.testing.assert_allclose(exported[f"p {name}"][:3], p, rtol=1e-9)
        differences = values[:3].mean(axis=1) - values[3].mean()
        np.testing.assert_allclose(exported[f"Δ {name}"][:3], differences, atol=1e-15)
        assert (exported[f"p {name}"][3], exported[f"Δ {name}"][3]) == (None, None)
        better = sign * differences > 0
        expected = [("†" if up else "‡") if small else "" for up, small in zip(better, np.array(p) < 0.05, strict=True)]
        assert [row[1 + 3 * m].raised for row in table.rows] == [*expected, ""]
        assert correction not in ("none", "bh") or m or "†" in expected
    how = {"holm": "Holm-corrected", "bh": "Benjamini–Hochberg-corrected", "bonferroni": "Bonferroni-corrected"}
    assert table.notes[:4] == (
        "Baseline: lists|$%.",
        "†, ‡: significantly better, or worse, than the baseline (paired t-test, two-sided, p ≤ 0.05, "
        f"{how[correction] + ' for 3 pairs' if correction in how else 'not corrected'}).",
        "Δ: the difference from the mean of the baseline. p: the p value"
        + ("." if correction == "none" else " after the correction."),
        "Not tested: num_ret, gm_map.",
    )


def test_a_run_that_is_worse_than_the_baseline_gets_a_double_dagger(results):
    table = results.table(baseline="cross--encoder")
    assert [row[1].raised for row in table.rows] == ["‡", "‡", "", "‡"]
    assert table.rows[0][2].text.startswith("-0.")
    assert (table.rows[0][3].text, table.rows[2][2]) == ("<0.001", None)


def test_without_a_test_the_baseline_gives_differences_only(results):
    table = results.table(baseline="lists|$%", test="none", digits=1)
    assert table.columns == ("run", "map", "Δ map", "ESL", "Δ ESL", "num_ret", "gm_map")
    assert {row[1].raised for row in table.rows} == {""}
    assert table.notes[:3] == (
        "Baseline: lists|$%.", "Δ: the difference from the mean of the baseline.", "Not compared: num_ret, gm_map.",
    )  # fmt: skip


@pytest.mark.parametrize("test", ["t", "none"])
@pytest.mark.parametrize(
    ("margin", "what"),
    [
        ({"keep": 0.9}, "share of the baseline's mean is above 90% (yes), below it (no)"),
        ({"tolerance": 0.05}, "loss of the mean is at most 0.05 (yes), above it (no)"),
    ],
)
def test_a_column_says_which_runs_keep_the_mean_of_the_baseline(results, test, margin, what):
    """If less is better, a run keeps a share if the baseline has that share of the run's mean."""
    table = results.table(baseline=RUNS[1], **margin, test=test)
    places = {name: i for i, name in enumerate(table.columns)}
    shown = {"keeps": "yes", "loses": "no"}
    seen = set()
    for m, (name, less) in enumerate((("map", False), ("ESL", True))):
        for i, row in enumerate(table.rows):
            values = results.values[[1, i], :, m]
            found = kept(*(values[::-1] if less else values), 0.9, tolerance=margin.get("tolerance"))
            many = f" ({found.needed:,} queries)" if found.needed else ""
            expected = None if i == 1 else shown.get(found.decision, f"open{many}")
            assert row[places[f"keeps {name}"]] == expected
            seen.add(expected)
    assert {"yes", "no"} <= seen
    assert table.notes[-1].startswith(f"keeps: whether the 95% interval of the {what}, or neither (open: ")
    # Counts and geometric means are not compared.
    assert not {"keeps num_ret", "keeps gm_map"} & set(table.columns)


def test_more_than_ten_runs_are_compared_with_the_best():
    """The best is the run with the least ESL, the first measure. The correction is for all 66 pairs."""
    results = many_runs()
    table = results.table()
    assert [row[0].value for row in table.rows] == list(results.runs)
    assert table.notes[0] == "Baseline: r0, the run with the lowest mean ESL."
    assert "Holm-corrected for all 66 pairs of runs)" in table.notes[1]
    for m, name in enumerate(("ESL", "AP")):
        values = results.values[:, :, m]
        pairs = list(combinations(range(12), 2))
        p = holm([float(scipy.stats.ttest_rel(values[a], values[b]).pvalue) for a, b in pairs])
        np.testing.assert_allclose(table.to_dict()[f"p {name}"][1:], p[:11], rtol=1e-9)
        differences = values[1:].mean(axis=1) - values[0].mean()
        np.testing.assert_allclose(table.to_dict()[f"Δ {name}"][1:], differences, atol=1e-15)
        expected = [
            ("‡" if (d > 0) == (m == 0) else "†") if x < 0.05 else "" for x, d in zip(p, differences, strict=False)
        ]
        assert [row[1 + 3 * m].raised for row in table.rows][1:] == expected
    last = Results(results.values[..., 1:], results.runs, results.queries, (tieaware.AP,)).table()
    assert last.notes[0] == "Baseline: r10, the run with the highest mean AP."
    assert [row[1].raised for row in last.rows][:3] == ["‡"] * 3
    assert letters(many_runs(10).table(), 1)[1] == list("abcdefghij")
    assert [row[0].raised for row in results.table(test="none").rows] == [""] * 12


@pytest.mark.parametrize(
    ("name", "function", "phrase"),
    [("tukey", tukey_hsd, "Tukey's HSD"), ("randomised-tukey", randomised_tukey_hsd, "randomised Tukey HSD")],
)
def test_tukey_compares_all_runs(results, name, function, phrase):
    """Letters and p values follow the table of all pairs. No further correction is possible."""
    test = function(results.values[:, :, 0])
    found = letters(results.table(test=name), 1)[0]
    assert found == [
        "".join("abcd"[j] for j in range(4) if test.p[i, j] < 0.05 and test.difference[i, j] > 0) for i in range(4)
    ]
    table = results.table("bm25_base", name, "none")
    np.testing.assert_allclose(table.to_dict()["p map"][1:], test.p[1:, 0], rtol=1e-12)
    assert f"({phrase}, two-sided, p ≤ 0.05, corrected for 4 runs)" in table.notes[1]
    for correction in ("holm", "bh", "bonferroni"):
        with pytest.raises(InputError, match=f"^correction: the test '{name}' corrects for the number of runs itself;"):
            results.table(test=name, correction=correction)


@pytest.mark.parametrize(
    ("p", "alpha", "text"),
    [
        (0.0004, 0.05, "<0.001"), (0.0496, 0.05, "0.050"), (0.05, 0.05, "0.050"), (0.0504, 0.05, "0.0504"),
        (0.05000004, 0.05, "0.05000004"), (0.0125, 0.05, "0.013"), (1.0, 0.05, "1.000"), (0.00005, 0.0001, "<0.0001"),
        (0.0004, 0.0001, "0.0004"),
    ],
)  # fmt: skip
def test_p_values_stay_on_their_side_of_the_level(p, alpha, text):
    """A p value above the level is not rounded down to it, so text and daggers agree."""
    assert _shown_p(p, alpha) == text


def test_every_significance_test_has_a_name(results):
    for test in TESTS:
        assert TESTS[test] in results.table(test=test, alpha=0.2).notes[0]


def test_thousands_of_queries_can_be_permuted():
    """There are more combinations of signs than float64 can represent."""
    rng = np.random.default_rng(2)
    evaluator = tieaware.Evaluator(np.tile([1, 0, 0], (2000, 1)), "RR")
    scores = {"model": rng.random((2000, 3)) + np.array([0.3, 0.0, 0.0]), "pop": rng.random((2000, 3))}
    table = evaluator.results(scores).table(baseline="pop", test="permutation")
    assert table["model", "p RR"] == pytest.approx(2 / 10_001)


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_a_run_with_a_smaller_mean_beats_none(test):
    """A run gets no letter of a run with a larger mean, even if the test finds it better on most queries."""
    values = np.stack([np.arange(1, 13) / 100, np.zeros(12)])[:, :, None]
    queries = tuple(map(str, range(12)))
    assert letters(Results(values, ("x", "y"), queries, (tieaware.AP,)).table(test=test), 1)[0] == ["b", ""]
    values[0, 0] = -1.0
    assert values[0].mean() < 0
    assert paired_test(values[0, :, 0], values[1, :, 0], test).p < 0.05
    assert letters(Results(values, ("x", "y"), queries, (tieaware.AP,)).table(test=test), 1)[0] == ["", ""]


def test_the_spread_stands_beside_the_means(results):
    std, bounds = (results.table(spread=kind, digits=2) for kind in ("std", "range"))
    assert std.rows[0][1].beside == f"± {results.mean_std()[0, 0]:.2f}"
    assert bounds.rows[0][1].beside == f"[{results.min[0, :, 0].mean():.2f}, {results.max[0, :, 0].mean():.2f}]"
    assert (std.rows[0][3].beside, bounds.rows[0][3].beside, std.rows[0][4].beside) == ("", "", "")
    assert bounds.rows[0][4].beside.startswith("[")
    assert (std.rows[0][1].text, std.rows[0][3].text) == (f"{results.mean()[0, 0]:.2f}", "600")


def test_the_frames_of_the_table_hold_the_numbers(results):
    assert results.table().to_pandas().to_dict("list") == results["bm25_base"].table().to_dict() | {
        "run": list(RUNS), **dict(zip(results.names, results.summary().T.tolist(), strict=True)),
    }  # fmt: skip
    assert results.table("bm25_base").to_pandas()["p map"].dtype == np.float64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"baseline": "bm25"}, "baseline: there is no run 'bm25'; did you mean bm25_base?"),
        (
            {"test": "f"},
            "test: expected one of t, wilcoxon, sign, permutation, tukey, randomised-tukey, none, found 'f'",
        ),
        ({"correction": "x"}, "correction: expected one of holm, bh, bonferroni, none, found 'x'"),
        ({"alpha": 1}, "alpha: expected a number between 0 and 1, found 1"),
        ({"digits": -1}, "digits: expected a whole number from 0 to 17, found -1"),
        ({"spread": "min"}, "spread: expected one of std, range, interval, found 'min'"),
        ({"keep": 0.99}, "keep: needs a baseline whose mean the runs keep"),
        ({"keep": 0.0, "baseline": RUNS[0]}, "keep: expected a share such as 99% or 0.99, found 0.0"),
        ({"keep": 0.9, "tolerance": 0.1, "baseline": RUNS[0]},
         "tolerance: keep and tolerance are two ways to say the same; pass one of them"),
        ({"tolerance": 0.1}, "tolerance: needs a baseline whose mean the runs keep"),
        ({"best": 1}, "best: expected True or False, found 1"),
    ],
)
def test_invalid_arguments_are_refused(results, arguments, message):
    assert message_of(results.table, **arguments) == message


def test_the_design_has_the_defaults_of_the_method():
    defaults = {name: each.default for name, each in inspect.signature(Results.table).parameters.items()}
    assert {"self": inspect.Parameter.empty, **Design()._asdict(), "sort": None} == defaults


def test_results_that_cannot_be_tested_are_refused():
    """With test="none" the table can be shown. A single run has nothing to be compared with, so there is no error."""
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1}, "q2": {"a": 1}}
    gaps = tieaware.evaluate(qrels, {"x": run, "y": {"q1": {"b": 1, "a": 0}}}, "AP", queries="both")
    single = tieaware.evaluate({"q1": {"a": 1}}, {"x": run, "y": run}, "AP")
    for results, needed in ((gaps, "a value of each run on each query"), (single, "at least two queries")):
        assert message_of(results.table) == f"test: significance tests need {needed}; choose the test 'none'"
        assert letters(results.table(test="none"), 0)[0] == ["", ""]
    assert letters(gaps["y"].table(), 0)[0] == [""]


def test_captions_say_how_the_numbers_were_computed():
    """Measures, numbers, tie rule and precision are in every caption; the test and its correction, if there is one."""
    qrels = {f"q{i}": {"d": 1} for i in range(5)}
    runs = {name: {q: {"d": s, "x": 1.0} for q in qrels} for name, s in (("a", 2.0), ("b", 1.0), ("c", 0.5))}
    result = tieaware.evaluate(qrels, runs, ["RR", "P_1"])

    def caption(table):
        return re.search(r"\\caption\{(.*)\}\n", table.to_latex())[1].replace(r"$\leq$", "≤").replace("\\_", "_")

    start = "Mean RR and P_1 of 3 runs over 5 queries, averaged over all orders of tied documents."
    assert caption(result.means()) == caption(result.table(test="none")) == start
    test = "a paired t-test, two-sided, p ≤ 0.05, Holm-corrected for"
    assert caption(result.table()) == f"{start} All runs are compared with each other by {test} 3 pairs."
    assert caption(result.table("b")) == f"{start} Each run is compared with b by {test} 2 pairs."
    tukey = caption(result.table("b", "tukey")).replace(r"\textquotesingle{}", "'")
    assert tukey == f"{start} Each run is compared with b by Tukey's HSD, two-sided, p ≤ 0.05, corrected for 3 runs."
    assert caption(many_runs().table()).endswith(f"compared with r0 by {test} all 66 pairs of runs.")
    assert caption(many_runs(2).table(test="none")) == "Mean ESL and AP of 2 runs over 20 queries."
    other = tieaware.evaluate(qrels, {"a": runs["a"]}, ["num_ret", "RR"], ties="trec_eval", precision="float16")
    assert caption(other.table()) == (
        "Mean RR and the sum of num_ret of 1 run over 5 queries, with tied documents by document id, descending, from "
        "scores reduced to float16."
    )
    both = tieaware.evaluate(qrels, runs, ["RR", "P@1", "P@2", "AP", "GMAP"], queries="both", ties="pessimistic")
    assert caption(both.means()) == (
        "5 measures of 3 runs over the queries that each run answers, 5 queries in all, with tied documents in the "
        "worst order."
    )


def test_labels_of_different_tables_differ():
    qrels = {f"q{i}": {"d": 1} for i in range(5)}
    runs = {name: {q: {"d": s, "x": 1.0} for q in qrels} for name, s in (("a", 2.0), ("b", 1.0))}
    options = [{}, {"ties": "optimistic"}, {"precision": "float16"}, {"queries": "both"}, {"spread": True}]
    results = [tieaware.evaluate(qrels, runs, ["RR", "P@1"], **each) for each in options]
    results += [tieaware.evaluate(qrels, runs, ["RR", "P@2"]), tieaware.evaluate({"q0": {"d": 1}}, runs, ["RR", "P@1"])]
    tables = [result.table(test="none") for result in results]
    tables += [results[0].means(), results[0].table("a"), results[0].table("b"), results[0].table(test="tukey")]
    tables += [results[0].table(correction="bh"), results[4].table(spread="std")]
    labels = [re.search(r"\\label\{(tab:[a-z0-9-]+)\}", table.to_latex())[1] for table in tables]
    # A spread that is not shown does not change the table.
    assert labels[4] == labels[0] == "tab:rr-p-1-over-5-queries-none"
    assert len(set(labels)) == len(labels) - 1
    assert results[0].table(correction="holm").label == results[0].table().label == "tab:rr-p-1-over-5-queries"


def test_rows_are_sorted_by_a_measure(results):
    """The best run comes first: that of the greatest AP, but of the least ESL. Letters follow the rows."""
    names = [row[0].value for row in results.table(sort="ap").rows]
    assert names == [RUNS[i] for i in np.argsort(-results.mean()[:, 0])] != list(RUNS)
    assert results.means(sort=tieaware.ESL)["run"] == [RUNS[i] for i in np.argsort(results.mean()[:, 1])]
    table = results.table(sort="map", spread="std")
    assert [row[0].raised for row in table.rows] == ["a", "b", "c", "d"]
    unsorted = results.table(spread="std")
    for row in table.rows:
        (other,) = (each for each in unsorted.rows if each[0].value == row[0].value)
        assert [cell[:3] for cell in row[1:]] == [cell[:3] for cell in other[1:]]
        assert [cell.beside for cell in row[1:]] == [cell.beside for cell in other[1:]]
        assert [len(cell.raised) for cell in row[1:]] == [len(cell.raised) for cell in other[1:]]
    # Runs with equal means keep their order, and runs without a mean come last.
    values = np.array([[np.nan], [0.5], [0.75], [0.5]])[:, None]
    odd = Results(values, ("none", "b", "c", "a"), ("q",), (tieaware.AP,))
    assert odd.means(sort="AP")["run"] == ["c", "b", "a", "none"]
    assert message_of(results.table, sort="RR") == "sort: no measure 'RR'; there are 4: map, ESL, num_ret, gm_map"


def test_ranks_stand_where_letters_are_too_few():
    """With more than 26 groups, a run has the ranks that it may have, as in `Results.ranks`."""
    values = np.random.default_rng(1).random((60, 40, 2)) / 5 + np.linspace(0, 0.5, 60)[:, None, None]
    results = Results(values, tuple(f"r{i}" for i in range(60)), tuple(range(40)), (tieaware.AP, tieaware.ESL))
    table = results.table(groups=True, correction="none", alpha=0.1)
    for row, ranks in zip(table.rows, results.ranks(0.9).rows, strict=True):
        assert [cell.raised for cell in row[1:]] == [cell.text for cell in ranks[1:]]
    assert "; ranks, where 26 letters are too few: those that the run may have (level 0.9)" in table.notes[0]
    few = results._run_range(0, 20).table(groups=True, correction="none")
    assert all(cell.raised.isalpha() for row in few.rows for cell in row[1:])
    assert "26" not in few.notes[0]


def test_no_zero_has_a_sign_and_no_interval_leaves_the_range():
    """Intervals of P@1 end at 0 and 1, those of a measure without an upper end at 0; differences have no range."""
    values = np.array([[[1, 9.0], [1, 0], [0.9, 0]], [[1, 9], [1, 0], [0.9001, 0]], [[0.1, 0], [0, 0], [0, 0]]])
    results = Results(values, ("a", "b", "c"), ("q1", "q2", "q3"), (tieaware.P @ 1, tieaware.DCG))
    rows = results.table(spread="interval", test="none").rows
    assert [cell.beside for row in rows for cell in row[1:]] == [
        "[0.823, 1.000]", "[0.000, 15.908]", "[0.823, 1.000]", "[0.000, 15.908]", "[0.000, 0.177]", "[0.000, 0.000]",
    ]  # fmt: skip
    assert [row[2] if row[2] is None else row[2].text for row in results.table("b", "none").rows] == [
        "+0.000", None, "-0.933",
    ]  # fmt: skip
    bias = replace(results, values=values - values[0])
    assert bias.table(spread="interval", test="none").rows[2][1].beside == "[-1.077, -0.790]"
    small = results.intervals(baseline="b").table().rows[0][1]
    assert (small.text, small.beside) == ("+0.000", "[+0.000, +0.000]")


@pytest.mark.parametrize("document", ["article", "twocolumn"])
def test_latex_typesets_the_table(results, tmp_path, document):
    """The tables can be typeset even if the names contain characters that are special in LaTeX, with their notes."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is missing")
    if subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).returncode:
        pytest.skip("LaTeX's package booktabs is missing")
    printable = "".join(map(chr, range(32, 127)))
    names = (f"{printable}", "[1pt]\0\n", "*–…±§ü−×÷·≥≤→←²ΔΦαμρστ†‡")
    odd = Results(np.zeros((3, 1, 1)), names, ("q",), (tieaware.AP,), names=("a_b",))
    tables = [
        results.table(), results.table(spread="std"), results.table(spread="range"), odd.table(test="none"),
        odd.table(names[0], "none"), results.table(RUNS[1], "tukey", spread="range"),
        results.table(RUNS[3], "sign", "bh"), many_runs().table(), compare(many_runs(3)).tables()["pairs"],
        Table("", ("a", "b"), []),
    ]  # fmt: skip
    codes = [table.to_latex() for table in tables]
    codes.append(tables[0].to_latex(caption=r"Runs, \emph{all}", label="tab:a_b", wide=True) + r"Table~\ref{tab:a_b}.")
    options = "[twocolumn]" if document == "twocolumn" else ""
    page = r"\documentclass%s{article}\usepackage{booktabs}\begin{document}\tiny %s\end{document}"
    (tmp_path / "t.tex").write_text(page % (options, "\n\\clearpage\n".join(codes)))
    for _ in range(2):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
            cwd=tmp_path, capture_output=True, text=True, errors="replace",
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:]
    assert "undefined" not in done.stdout


def test_the_command_prints_the_table(tmp_path, monkeypatch, printed, refused):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 d 1\n" for i in range(5)))
    (tmp_path / "good.run").write_text("".join(f"q{i} Q0 d 1 2 t\nq{i} Q0 e 2 1 t\n" for i in range(5)))
    (tmp_path / "tied.run").write_text("".join(f"q{i} Q0 d 1 1 t\nq{i} Q0 e 1 1 t\n" for i in range(5)))
    arguments = ["eval", "qrels", "good.run", "tied.run", "-m", "recip_rank", "-m", "num_ret"]
    outputs = {
        form: printed(*arguments, "--table", form, "--spread", "--alpha", "0.01")
        for form in ("text", "markdown", "latex", "html")
    }
    note = "(paired t-test, two-sided, p {} 0.01, Holm-corrected for 1 pair)."
    assert outputs["text"].splitlines()[2:5] == [
        "run     recip_rank        num_ret",
        "good a  *1.000 b ± 0.000  10",
        "tied b   0.750   ± 0.112  10",
    ]
    assert outputs["markdown"].splitlines()[2] == "| good<sup>a</sup> | **1.000**<sup>b</sup> ± 0.000 | 10 |"
    latex = r"good\textsuperscript{a} & \textbf{1.000} & \textsuperscript{b} & $\pm$ 0.000 & 10 \\"
    assert latex in outputs["latex"]
    assert "<td>good<sup>a</sup></td><td><b>1.000</b><sup>b</sup> <small>± 0.000</small></td>" in outputs["html"]
    for form in ("text", "markdown", "html"):
        assert note.format("≤") in outputs[form]
    # In LaTeX, the caption says it.
    test = r"paired t-test, two-sided, p $\leq$ 0.01, Holm-corrected for 1 pair"
    caption, below = outputs["latex"].split(r"\begin{tabular}")
    assert f"compared with each other by a {test}." in caption
    assert r"are significantly worse.\par" in below
    assert "t-test" not in below
    as_text = [*arguments, "--table", "text"]
    assert "tied   0.8 [0.5, 1.0]" in printed(*as_text, "--beside", "range", "--digits", "1", "--test", "none")
    assert printed(*as_text, "--baseline", "tied", "--correction", "none").splitlines()[2:6] == [
        "run   recip_rank  Δ recip_rank  p recip_rank  num_ret",
        "good  *1.000 †    +0.250        <0.001        10",
        "tied   0.750           –             –        10",
        "",
    ]
    lines = printed(*as_text, "--test", "none", "--sort", "mrr", "--queries", "both").splitlines()
    assert [line.split()[0] for line in lines[3:5]] == ["good", "tied"]
    options = ["--test", "tukey", "--caption", r"My \emph{runs}", "--label", "tab:mine"]
    made = printed(*arguments, "--table", "latex", *options)
    assert "\\caption{My \\emph{runs}}\n\\label{tab:mine}\n" in made
    assert "Tukey\\textquotesingle{}s HSD" in made
    for options, message in (
        (
            ["--table", "text", "--test", "f", "--measure", "gone"],
            "--test: expected one of t, wilcoxon, sign, permutation, tukey, randomised-tukey, none, found 'f'",
        ),
        (["--baseline", "good"], "--baseline requires --table"),
        (["--sort", "map"], "--sort requires --table"),
        (["--table", "text", "--sort", "map"], "--sort: no measure 'map'; there are 2: recip_rank, num_ret"),
        (["--caption", "x"], "--caption requires --table latex"),
        (["--table", "text", "--label", "x"], "--label requires --table latex"),
        (
            ["--table", "text", "--test", "tukey", "--correction", "holm"],
            "--correction: the test 'tukey' corrects for the number of runs itself; leave out the correction",
        ),
        (["--table", "text", "-q"], "--table cannot be combined with -q: a table shows means only"),
        (["--table", "text", "--baseline", "god"], "--baseline: there is no run 'god'; did you mean good?"),
    ):
        pointer = " See" if message.endswith("?") else "; see"
        assert refused(*arguments, *options) == f"{message}{pointer} tieaware eval --help\n"
    assert "--format: not allowed with argument --table" in refused(*as_text, "--format", "csv")
