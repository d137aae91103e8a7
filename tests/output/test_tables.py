"""Tables in every format, and fitted to the width of a terminal."""

import re
from collections import Counter

import pytest

from tieaware import InputError
from tieaware.output.tables import FORMATS, Marked, Table

NAMES = [f"run-{i}-of-a-certain-length" for i in range(30)]
LONG = Table(
    "A title that is longer than a line of a narrow terminal has room for", ("run", "beats", "whom", "mean"),
    [
        (name, i, ", ".join(NAMES[:i]), Marked(0.5, "0.500", raised=",".join("abcdefghijklmno"[:i])))
        for i, name in enumerate(NAMES)
    ],
    ("A note that is longer than a line of a narrow terminal has room for.",),
)  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 120, 1000])
def test_nothing_is_lost(width):
    """Whatever is folded or stands in several blocks is there, letter by letter; the names of rows in every block."""
    lines = LONG.fitted(width).splitlines()
    assert max(map(len, lines)) <= width
    whole, fitted = ("".join(text.split()) for text in (str(LONG), "".join(lines)))
    assert "…" not in fitted
    assert not Counter(whole) - Counter(fitted)
    assert width < 1000 or fitted == whole


def test_cells_go_on_below():
    table = Table("T", ("run", "whom", "AP"), [("a", "one, two, three, four", Marked(1, "1.0", True, "a,b,c,d,e,f,g"))])
    assert table.fitted(36).splitlines()[2:] == [
        "run  whom         AP",
        "a    one, two,    *1.0 a,b,c,d,e,f,",
        "     three, four       g",
    ]


def test_what_is_left_out_is_said():
    rows = [(f"r{i}", i) for i in range(100)]
    table = Table("T", ("run", "n"), rows, ("A note.",))
    lines = table.fitted(80, 20, "--all prints it").splitlines()
    shown = [line.split()[0] for line in lines[3:-3]]
    assert shown == [*(f"r{i}" for i in range(15)), "…", *(f"r{i}" for i in range(95, 100))]
    assert lines[-2:] == ["A note.", "… stands for what is left out here, 80 of 100 rows: --all prints it."]
    assert table.fitted(80, 100) == table.fitted(80) == str(table)
    cells = Table("T", ("run", "whom"), [("a", ", ".join(NAMES))])
    assert cells.fitted(80, 20, "it is in a pipe").splitlines()[4:] == [
        "     run-2-of-a-certain-length, run-3-of-a-certain-length, …",
        "",
        "… stands for what is left out here, the ends of long cells: it is in a pipe.",
    ]


def test_a_table_in_every_format():
    """Names are quoted where they have to be, numbers are whole, and what is missing is a dash, nothing or null."""
    table = Table("Runs", ("run", "a|b"), [("x\\|y", 0.25), ('"z"', None), ("w", 2)], ("A note.",))
    assert FORMATS["text"](table) == 'Runs\n\nrun      a|b\nx\\|y  0.2500\n"z"        –\nw          2\n\nA note.\n'
    assert FORMATS["csv"](table) == 'run,a|b\nx\\|y,0.25\n"""z""",\nw,2\n'
    assert FORMATS["markdown"](table) == (
        '| run | a\\|b |\n| --- | ---: |\n| x\\\\\\|y | 0.2500 |\n| "z" | – |\n| w | 2 |\n'
    )
    assert FORMATS["json"](Table("T", ("a",), [(float("nan"),)])) == (
        '{\n  "title": "T",\n  "rows": [\n    {\n      "a": null\n    }\n  ],\n  "notes": []\n}\n'
    )


def test_tables_with_marks_in_every_format():
    """Numbers stand below numbers, also in LaTeX, where marks have columns of their own."""
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
        "% T", "% A note.", "% Needs the package booktabs.",
        r"\begin{tabular}{lr@{}l@{ }l}", r"\toprule", r"run & \multicolumn{3}{l}{A\textbar{}P} \\", r"\midrule",
        r"b\_m\textsuperscript{a} & \textbf{0.50} & \textsuperscript{ab} & $\pm$ 0.1 \\",
        r"\textless{}d\textgreater{} & -- & & \\", r"e & 12.00 & & \\", r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip
    assert table.to_dict() == {"run": ["b_m", "<d>", "e"], "A|P": [0.5, None, 12.0]}
    assert table.csv() == "run,A|P\nb_m,0.5\n<d>,\ne,12.0\n"
    assert Table("", ("a", "b"), []).to_dict() == {"a": [], "b": []}


@pytest.mark.parametrize("name", ["gone/table.csv", ""])
def test_a_table_that_cannot_be_written_says_so_in_a_line(tmp_path, name):
    """A folder that is not there; and one in the place of the file."""
    with pytest.raises(InputError, match=re.escape(str(tmp_path / name)) + ": (No such file|Is a) "):
        Table("T", ("a",), [(1,)]).to_csv(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
