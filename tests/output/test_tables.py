"""Tables in every format."""

import re

import pytest

from tieaware import InputError
from tieaware.output.tables import FORMATS, Marked, Table


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
        "% T", "% A note.", "% Needs the package booktabs.",
        r"\begin{tabular}{lr@{}l@{ }l}", r"\toprule", r"run & \multicolumn{3}{l}{A\textbar{}P} \\", r"\midrule",
        r"b\_m\textsuperscript{a} & \textbf{0.50} & \textsuperscript{ab} & $\pm$ 0.1 \\",
        r"\textless{}d\textgreater{} & -- & & \\", r"e & 12.00 & & \\", r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip
    assert table.to_dict() == {"run": ["b_m", "<d>", "e"], "A|P": [0.5, None, 12.0]}
    assert table.csv() == "run,A|P\nb_m,0.5\n<d>,\ne,12.0\n"
    assert Table("", ("a", "b"), []).to_dict() == {"a": [], "b": []}


@pytest.mark.parametrize("name", ["gone/table.csv", ""])
def test_a_table_that_cannot_be_written_is_an_error(tmp_path, name):
    """The folder does not exist, or the path is a folder."""
    with pytest.raises(InputError, match=re.escape(str(tmp_path / name)) + ": (No such file|Is a) "):
        Table("T", ("a",), [(1,)]).to_csv(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
