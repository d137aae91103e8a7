"""Tables in every format."""

import copy
import pickle
import re

import numpy as np
import pytest

from tieaware import AP, InputError, nDCG
from tieaware.output.tables import FORMATS, Marked, Note, Table, counted, table_by


def test_a_table_in_every_format():
    """Names are quoted where the format requires it. A missing number is a dash, an empty field or null."""
    table = Table("Runs", ("run", "a|b"), [("x\\|y", 0.25), ('"z"', None), ("w", 2)], ("A note.",))
    assert FORMATS["text"](table) == 'Runs\n\nrun      a|b\nx\\|y  0.2500\n"z"        –\nw          2\n\nA note.\n'
    assert FORMATS["csv"](table) == 'run,a|b\nx\\|y,0.25\n"""z""",\nw,2\n'
    assert FORMATS["markdown"](table) == (
        '| run | a\\|b |\n| --- | ---: |\n| x\\\\\\|y | 0.2500 |\n| "z" | – |\n| w | 2 |\n'
    )
    assert FORMATS["json"](Table("T", ("a",), [(float("nan"),)])) == (
        '{\n  "title": "T",\n  "rows": [\n    {\n      "a": null\n    }\n  ],\n  "notes": []\n}\n'
    )


def test_a_table_of_arrays_has_a_row_for_each_combination_of_names():
    """Cells are plain numbers and texts; NaN is a cell without a number, and measures become text."""
    counts, means = np.array([[1, 2], [3, 4]]), [[0.5, float("nan")], [None, 0.25]]
    columns = {"n": counts, "mean": means, "place": np.array([["x", "y"], ["z", ""]])}
    table = table_by("Runs", {"measure": [AP, nDCG @ 10], "query": [7, "q"]}, columns, ["A note."])
    assert table.columns == ("measure", "query", "n", "mean", "place")
    assert table.rows == [
        ("AP", 7, 1, 0.5, "x"), ("AP", "q", 2, None, "y"), ("nDCG@10", 7, 3, None, "z"), ("nDCG@10", "q", 4, 0.25, ""),
    ]  # fmt: skip
    assert [type(cell) for cell in table.rows[0]] == [str, int, int, float, str]
    assert table.notes == ("A note.",)
    assert table_by("Empty", {"run": []}, {"AP": np.empty(0)}).rows == []


def test_tables_with_marks_in_every_format():
    """Marks are superscripts, bold type and text beside a number. Numbers stay aligned; LaTeX has columns for marks."""
    rows = [
        (Marked("b_m", "b_m", raised="a"), Marked(0.5, "0.50", bold=True, raised="ab", beside="± 0.1")),
        ("<d>", None),
        ("e", Marked(12.0, "12.00")),
    ]
    table = Table("T", ("run", "A|P"), rows, ("A\nnote.",))
    assert str(table).splitlines()[2:6] == [
        "run    A|P", "b_m a  *0.50 ab ± 0.1", "<d>        –", "e      12.00",
    ]  # fmt: skip
    assert table.to_markdown().splitlines() == [
        "| run | A\\|P |", "| --- | --- |",
        "| b_m<sup>a</sup> | **0.50**<sup>ab</sup> ± 0.1 |", "| &lt;d> | – |", "| e | 12.00 |",
    ]  # fmt: skip
    assert "<td>b_m<sup>a</sup></td><td><b>0.50</b><sup>ab</sup> <small>± 0.1</small></td>" in table.to_html()
    assert "<td>&lt;d&gt;</td>" in table.to_html()
    assert table.to_latex().splitlines() == [
        "% Needs the package booktabs.", r"\begin{table}", r"\centering", r"\caption{T.}", r"\label{tab:t}",
        r"\smallskip", r"\begin{tabular}{lr@{}l@{ }l}",
        r"\toprule", r"run & \multicolumn{3}{l}{A\textbar{}P} \\", r"\midrule",
        r"b\_m\textsuperscript{a} & \textbf{0.50} & \textsuperscript{ab} & $\pm$ 0.1 \\",
        r"\textless{}d\textgreater{} & -- & & \\", r"e & 12.00 & & \\", r"\bottomrule", r"\end{tabular}",
        r"\par\medskip", r"\begin{minipage}{\linewidth}", r"\footnotesize", r"A note.\par", r"\end{minipage}",
        r"\end{table}",
    ]  # fmt: skip
    assert table.to_dict() == {"run": ["b_m", "<d>", "e"], "A|P": [0.5, None, 12.0]}
    assert table.csv() == "run,A|P\nb_m,0.5\n<d>,\ne,12.0\n"
    assert Table("", ("a", "b"), []).to_dict() == {"a": [], "b": []}


def test_captions_labels_and_widths_in_latex():
    """Caption and label are LaTeX code; an empty one is left out. With another caption, the title is the first note."""
    table = Table("Runs & more, on: x_y", ("run", "AP"), [("b_m", -0.5)], ("100 %",))
    lines = table.to_latex(caption=r"Runs by \citet{a}\n", label="tab:a_b", wide=True).splitlines()
    assert lines[1:5] == [r"\begin{table*}", r"\centering", r"\caption{Runs by \citet{a}\n}", r"\label{tab:a_b}"]
    assert lines[-4:] == [r"Runs \& more, on: x\_y.\par", r"100 \%\par", r"\end{minipage}", r"\end{table*}"]
    lines = table.to_latex().splitlines()
    assert lines[1:5] == [
        r"\begin{table}", r"\centering", r"\caption{Runs \& more, on: x\_y.}", r"\label{tab:runs-more}",
    ]  # fmt: skip
    assert r"b\_m & $-$0.5000 \\" in lines
    assert not {"caption", "label", "minipage"} & set(
        re.findall("[a-z]+", Table("", ("a",), [(1,)]).to_latex(caption="", label=""))
    )
    assert Table("…", ("a",), [(1,)]).to_latex().splitlines()[4] == r"\label{tab:results}"
    own = Table("T", ("run",), [("a",)], ("N.",), caption="Runs & more.", label="tab:own")
    assert own.to_latex().splitlines()[3:5] == [r"\caption{Runs \& more.}", r"\label{tab:own}"]
    assert own.to_latex(caption="C").splitlines()[-4:-2] == [r"Runs \& more.\par", r"N.\par"]


def test_wide_tables_in_latex():
    """Longer rows need the width of the page, and are set smaller, as are tables of many rows."""
    for n, name, is_small in ((4, "table", False), (7, "table*", True), (15, "table*", True)):
        columns = tuple(f"c{i}" for i in range(n))
        code = Table("T", columns, [(0.5,) * n]).to_latex()
        assert f"\\begin{{{name}}}\n" in code
        assert (r"\setlength{\tabcolsep}{3pt}" in code) == is_small
        assert r"\begin{table}" in Table("T", columns, [(0.5,) * n]).to_latex(wide=False)
    for n, is_small in ((32, False), (33, True)):
        assert (r"\footnotesize" in Table("T", ("run",), [("a",)] * n).to_latex()) == is_small


def cells_of(code):
    """Return the rows of each tabular in LaTeX code, as lists of cells."""
    pieces = re.findall(r"\\midrule\n(.*?)\\bottomrule", code, re.DOTALL)
    return [[re.split(" ?& ?", line.removesuffix(r" \\")) for line in piece.splitlines()] for piece in pieces]


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_pieces"), [(44, 5, 1), (45, 5, 2), (3, 24, 3), (100, 24, 9), (0, 24, 2)]
)
def test_tables_larger_than_a_page_are_divided_in_latex(n_rows, n_columns, n_pieces):
    """Each piece has the names of its rows; all pieces together have each cell once, in one numbered table."""
    columns = ("run", *(f"m{i}" for i in range(n_columns)))
    rows = [(f"r{i}", *(i + j / 100 for j in range(n_columns))) for i in range(n_rows)]
    code = Table("Runs", columns, rows, ("A note.",)).to_latex()
    pieces = cells_of(code)
    assert len(pieces) == n_pieces == code.count(r"\end{table")
    assert [code.count(text) for text in (r"\caption{Runs.}", r"\label{", "A note.")] == [1, 1, 1]
    again = r"\addtocounter{table}{-1}" + "\n" + r"\caption{Continued.}"
    assert code.count(again) == n_pieces - 1
    found = [(row[0], cell) for piece in pieces for row in piece for cell in row[1:]]
    assert sorted(found) == sorted((row[0], f"{cell:.4f}") for row in rows for cell in row[1:])
    assert all(len(piece) <= 44 and len(" & ".join(row)) <= 110 for piece in pieces for row in piece)


def test_a_common_heading_is_not_divided_in_latex():
    columns = ("run", *(name for i in range(6) for name in (f"m{i}", f"Δ m{i}", f"p m{i}")))
    code = Table("T", columns, [("a", *[0.5] * 18)]).to_latex()
    assert [len(row) for piece in cells_of(code) for row in piece] == [10, 10]
    assert code.count(r"\multicolumn{3}{c}") == 6


def test_minus_signs_and_zeros_in_latex():
    """Hyphens of names and of ranges stay; a number that rounds to 0 has no sign."""
    rows = [
        ("bm25-2", Marked(-0.5, "-0.50", beside="[-0.60, -.4]"), -1.5e-6), ("a--b", Marked(1, "3-5"), -0.0),
        ("-1", Marked(0.5, "0.5", beside="± 0.1 (-2)"), -0.25),
    ]  # fmt: skip
    assert cells_of(Table("T", ("run", "AP", "x"), rows).to_latex())[0] == [
        ["bm25-2", "$-$0.50", "{[}$-$0.60, $-$.4{]}", "$-$1.5e$-$06"], ["a-{}-b", "3-5", "", "0.0000"],
        ["-1", "0.5", r"$\pm$ 0.1 ($-$2)", "$-$0.2500"],
    ]  # fmt: skip
    assert str(Table("T", ("x",), [(-0.0,)])).endswith("\n0.0000")


def test_columns_with_a_common_heading_in_latex():
    """The difference and the p value of a measure share its heading. Other columns, and other measures, do not."""
    columns = ("run", "AP", "Δ AP", "p AP", "NumRet", "p x", "RR", "Δ RR")
    lines = (
        Table("T", columns, [("a", Marked(0.5, "0.5", raised="†"), 0.1, 0.2, 7, 1, 0.5, 0.5)]).to_latex().splitlines()
    )
    start = lines.index(r"\toprule")
    assert lines[start + 1 : start + 4] == [
        r" & \multicolumn{4}{c}{AP} &  &  & \multicolumn{2}{c}{RR} \\",
        r"\cmidrule(lr){2-5}\cmidrule(lr){8-9}",
        r"run & \multicolumn{2}{l}{mean} & $\Delta$ & $p$ & NumRet & p x & mean & $\Delta$ \\",
    ]
    assert r"0.5 & \textsuperscript{$\dagger$} & 0.1000" in lines[start + 5]


@pytest.mark.parametrize("name", ["gone/table.csv", ""])
def test_a_table_that_cannot_be_written_is_an_error(tmp_path, name):
    """The folder does not exist, or the path is a folder."""
    with pytest.raises(InputError, match=re.escape(str(tmp_path / name)) + ": (No such file|Is a) "):
        Table("T", ("a",), [(1,)]).to_csv(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def runs():
    rows = [("bm25", Marked(0.25, "0.25", bold=True), 12), ("constant", None, 0), ("dense", 0.5, 3)]
    return Table("Runs", ("run", "AP", "num_ret"), rows)


def test_a_cell_is_found_by_row_and_column(runs):
    assert runs["bm25", "AP"] == 0.25
    assert type(runs["bm25", "AP"]) is float
    assert (runs["bm25", "num_ret"], type(runs["bm25", "num_ret"])) == (12, int)
    assert runs["constant", "AP"] is None
    assert runs["run"] == ["bm25", "constant", "dense"]
    assert runs["AP"] == [0.25, None, 0.5]
    assert Table("", ("depth", "AP"), [(5, 0.5), (10, 0.6)])[10, "AP"] == 0.6


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (("bm26", "AP"), "no row 'bm26'; did you mean bm25? there are 3: bm25, constant, dense"),
        (("bm25", "ap"), "no column 'ap'; did you mean AP? there are 3: run, AP, num_ret"),
        (("x", "AP"), "no row 'x'; there are 3: bm25, constant, dense"),
        ("zzz", "no column 'zzz'; there are 3: run, AP, num_ret"),
        (0, "no column 0; there are 3: run, AP, num_ret"),
        (("bm25", "AP", 1), "found 3 keys, expected row and column"),
    ],
)
def test_a_cell_that_does_not_exist_is_a_key_error_with_names_that_do(runs, key, message):
    with pytest.raises(KeyError) as error:
        runs[key]
    assert error.value.args == (message,)


def test_a_row_must_be_unique_to_be_selected():
    pairs = Table("Pairs", ("run", "other", "p"), [("a", "b", 0.1), ("a", "c", 0.2), ("b", "c", 0.3)])
    assert pairs["b", "p"] == 0.3
    with pytest.raises(KeyError, match=r"2 rows begin with 'a'; use to_dict\(\)"):
        pairs["a", "p"]


def test_tables_are_not_iterable(runs):
    with pytest.raises(TypeError, match="not iterable"):
        list(runs)


def test_the_repr_fits_on_a_screen(runs):
    assert repr(runs) == str(runs)
    long = Table("Long", ("name", *(f"column {i}" for i in range(3))), [("x" * 200, 1, 2, 3)] * 1000)
    lines = repr(long).splitlines()
    assert len(lines) < 60
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "Left out (…): 980 of 1,000 rows and the ends of long cells. For the whole table, use print()."


def test_plain_text_has_its_own_notes():
    """Plain text shows bold type as a star, so a note on bold type differs there. Copies keep both texts."""
    note = Note("Bold: the best.", plain="Star: the best.")
    table = Table("T", ("run",), [("a",)], (note, Note("Same."), "A note."))
    for each in (table, copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert str(each).splitlines()[-3:] == ["Star: the best.", "Same.", "A note."]
        assert each.fitted(80).splitlines()[-3:] == ["Star: the best.", "Same.", "A note."]
        assert "<p class=note>Bold: the best.</p>\n<p class=note>Same.</p>" in each.to_html()
        assert "Bold: the best." in each._repr_html_()
        assert r"Bold: the best.\par" in each.to_latex()
        assert "Star" not in each.to_html() + each._repr_html_() + each.to_latex() + each.to_json()


def test_notebooks_style_the_table_inline_with_their_own_colours(runs):
    """A notebook has no style sheet for the table, and may be dark. A page has one, and forbids inline styles."""
    page = runs._repr_html_()
    assert page.startswith("<p><b>Runs</b></p>\n<div style=")
    assert "#" not in page
    assert "http" not in page
    assert re.search(r'<td style="text-align:right[^"]*">12</td>', page)
    assert re.search(r'<td style="text-align:left[^"]*">bm25</td>', page)
    assert "style" not in runs.to_html()


def test_numbers_agree_with_their_nouns():
    assert [counted(1, "run"), counted(0, "run"), counted(1200, "query", "queries")] == [
        "1 run", "0 runs", "1,200 queries",
    ]  # fmt: skip
