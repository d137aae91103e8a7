"""The table for a paper: significance letters, compared with SciPy; best means in bold; the spread; LaTeX."""

import inspect
import re
import shutil
import subprocess
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

import tieaware
from tieaware import InputError, Results
from tieaware.cli import main
from tieaware.results.paper_table import TESTS, Design
from tieaware.statistics import paired_test

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
    return {i: max(min(1, (len(p) - k) * p[j]) for k, j in enumerate(order[: order.index(i) + 1])) for i in order}


@pytest.mark.parametrize("correction", ["holm", "none"])
@pytest.mark.parametrize("column", [1, 2])
def test_letters_are_those_of_the_runs_that_are_worse_by_scipy(results, column, correction):
    values, sign = results.values[:, :, column - 1], (1, -1)[column - 1]
    pairs = list(combinations(range(4), 2))
    p = [float(scipy.stats.ttest_rel(values[a], values[b]).pvalue) for a, b in pairs]
    p = holm(p) if correction == "holm" else p
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


def test_with_a_baseline_each_run_is_compared_with_it_only(results):
    table = results.table(baseline="lists|$%")
    assert letters(table, 1) == (["", "d", "d", "a"], list("abcd"))
    how = "(paired t-test, two-sided, p < 0.05, Holm-corrected for 3 pairs)"
    assert f"compared with lists|$% only {how}" in table.notes[0]
    assert table.notes[1] == "Not tested: num_ret, gm_map."


def test_every_significance_test_has_a_name(results):
    for test in set(TESTS) - {"none"}:
        paired_test([1.0, 2.0, 4.0], [0.0, 0.5, 0.1], test)
        assert TESTS[test] in results.table(test=test, alpha=0.2).notes[0]
    with pytest.raises(InputError):
        paired_test([1.0, 2.0], [0.0, 0.5], "none")


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


def test_the_frames_of_the_table_hold_the_means_only(results):
    assert results.table().to_pandas().to_dict("list") == results["bm25_base"].table().to_dict() | {
        "run": list(RUNS), **dict(zip(results.names, results.summary().T.tolist(), strict=True)),
    }  # fmt: skip


def test_letters_beyond_z_are_separated_by_commas():
    values = np.repeat(np.arange(28.0)[:, None], 3, axis=1)[:, :, None] + np.arange(3)[None, :, None] / 7
    table = Results(values, tuple(map(str, range(28))), ("p", "q", "r"), (tieaware.AP,)).table()
    assert [row[0].raised for row in table.rows][24:] == ["y", "z", "aa", "ab"]
    assert table.rows[27][1].raised == ",".join([*"abcdefghijklmnopqrstuvwxyz", "aa"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"baseline": "bm25"}, "baseline: there is no run 'bm25'; did you mean bm25_base?"),
        ({"test": "f"}, "test: expected one of t, wilcoxon, sign, permutation, none, found 'f'"),
        ({"correction": "bh"}, "correction: expected one of holm, none, found 'bh'"),
        ({"alpha": 1}, "alpha: expected a number between 0 and 1, found 1"),
        ({"digits": -1}, "digits: expected a whole number from 0 to 17, found -1"),
        ({"spread": "min"}, "spread: expected one of std, range, found 'min'"),
        ({"best": 1}, "best: expected True or False, found 1"),
    ],
)
def test_invalid_arguments_are_refused(results, arguments, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        results.table(**arguments)


def test_the_design_has_the_defaults_of_the_method():
    defaults = {name: each.default for name, each in inspect.signature(Results.table).parameters.items()}
    assert {"self": inspect.Parameter.empty, **Design()._asdict()} == defaults


def test_results_that_cannot_be_tested_are_refused():
    """With test="none" the table can be shown. A single run has nothing to be compared with, so there is no error."""
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1}, "q2": {"a": 1}}
    gaps = tieaware.evaluate(qrels, {"x": run, "y": {"q1": {"b": 1, "a": 0}}}, "AP", queries="both")
    single = tieaware.evaluate({"q1": {"a": 1}}, {"x": run, "y": run}, "AP")
    for results, needed in ((gaps, "a value of each run on each query"), (single, "at least two queries")):
        with pytest.raises(InputError, match=f"^test: significance tests need {needed}; choose the test 'none'$"):
            results.table()
        assert letters(results.table(test="none"), 0)[0] == ["", ""]
    assert letters(gaps["y"].table(), 0)[0] == [""]
    with pytest.raises(InputError, match=r"^spread: the results have no spread; evaluate with the spread first$"):
        single.table(spread="std")


def test_latex_typesets_the_table(results, tmp_path):
    """The table can be typeset even if the names contain characters that are special in LaTeX."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is missing")
    if subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).returncode:
        pytest.skip("LaTeX's package booktabs is missing")
    printable = "".join(map(chr, range(32, 127)))
    odd = Results(np.zeros((3, 1, 1)), (f"{printable}", "[1pt]\0\n", "*–…±§ü"), ("q",), (tieaware.AP,), names=("a_b",))
    tables = [results.table(), results.table(spread="std"), results.table(spread="range"), odd.table(test="none")]
    page = r"\documentclass{article}\usepackage{booktabs}\begin{document}\tiny %s\end{document}"
    (tmp_path / "t.tex").write_text(page % "\n\n".join(table.to_latex() for table in tables))
    done = subprocess.run(
        ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_command_prints_the_table(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 d 1\n" for i in range(5)))
    (tmp_path / "good.run").write_text("".join(f"q{i} Q0 d 1 2 t\nq{i} Q0 e 2 1 t\n" for i in range(5)))
    (tmp_path / "tied.run").write_text("".join(f"q{i} Q0 d 1 1 t\nq{i} Q0 e 2 1 t\n" for i in range(5)))
    arguments = ["eval", "qrels", "good.run", "tied.run", "-m", "recip_rank", "-m", "num_ret"]
    outputs = {}
    for form in ("text", "markdown", "latex", "html"):
        assert main([*arguments, "--table", form, "--spread", "--alpha", "0.01"]) == 0
        outputs[form] = capfd.readouterr().out
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
    for form, less in (("text", "<"), ("markdown", "<"), ("latex", r"\textless{}"), ("html", "&lt;")):
        assert note.format(less) in outputs[form]
    assert main([*arguments, "--table", "text", "--beside", "range", "--digits", "1", "--test", "none"]) == 0
    assert "tied   0.8 [0.5, 1.0]" in capfd.readouterr().out
    assert main([*arguments, "--table", "text", "--baseline", "tied", "--correction", "none"]) == 0
    assert "compared with tied only" in capfd.readouterr().out
    for options, message in (
        (
            ["--table", "text", "--test", "f", "--measure", "gone"],
            "--test: expected one of t, wilcoxon, sign, permutation, none, found 'f'",
        ),
        (["--baseline", "good"], "--baseline requires --table"),
        (["--table", "text", "-q"], "--table cannot be combined with -q: a table shows means only"),
        (["--table", "text", "--baseline", "god"], "--baseline: there is no run 'god'; did you mean good?"),
    ):
        assert main([*arguments, *options]) == 2
        pointer = " See" if message.endswith("?") else "; see"
        assert capfd.readouterr().err == f"{message}{pointer} tieaware eval --help\n"
    with pytest.raises(SystemExit):
        main([*arguments, "--table", "text", "--format", "csv"])
    assert "--format: not allowed with argument --table" in capfd.readouterr().err
