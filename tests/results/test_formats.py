"""What `tieaware eval` prints, byte for byte in every format, and what tables share with it."""

import re

import pytest

from tieaware import InputError
from tieaware.cli import main
from tieaware.output.tables import FORMATS, Marked, Table

QRELS = "q1 0 d1 1\nq1 0 d4 2\nq|2 0 d1 1\nq\\3 0 d9 1\n"
RUNS = {
    'a,"b|.run': "q1 Q0 d1 1 7 t\nq1 Q0 d2 2 7 t\nq1 Q0 d3 3 6.5 t\nq|2 Q0 d2 1 2 t\nq|2 Q0 d1 1 2 t\n",
    "c.run": "q1 Q0 d4 1 7 t\n",
}
TEXT = """\
runid                 \tall\ta,"b|
map                   \tq1\t0.38
map_std               \tq1\t0.12
map_min               \tq1\t0.25
map_max               \tq1\t0.50
num_ret               \tq1\t3
map                   \tq|2\t0.75
map_std               \tq|2\t0.25
map_min               \tq|2\t0.50
map_max               \tq|2\t1.00
num_ret               \tq|2\t2
map                   \tall\t0.56
map_std               \tall\t0.14
map_min               \tall\t0.38
map_max               \tall\t0.75
num_ret               \tall\t5
runid                 \tall\tc
map                   \tq1\t0.50
map_std               \tq1\t0.00
map_min               \tq1\t0.50
map_max               \tq1\t0.50
num_ret               \tq1\t1
map                   \tall\t0.50
map_std               \tall\t0.00
map_min               \tall\t0.50
map_max               \tall\t0.50
num_ret               \tall\t1
"""
JSON = """\
{
  "a,\\"b|": {
    "all": {
      "map": 0.375,
      "num_ret": 5.0
    }
  },
  "c": {
    "all": {
      "map": 0.16666666666666666,
      "num_ret": 1.0
    }
  }
}
"""
CSV = """\
run,query,map,map_std,map_min,map_max,num_ret
"a,""b|",q1,0.375,0.125,0.25,0.5,3.0
"a,""b|",q|2,0.75,0.25,0.5,1.0,2.0
"a,""b|",all,0.5625,0.13975424859373686,0.375,0.75,5.0
c,q1,0.5,0.0,0.5,0.5,1.0
c,all,0.5,0.0,0.5,0.5,1.0
"""
MARKDOWN = """\
| run | query | map | map_std | map_min | map_max | num_ret |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| a,"b\\| | q1 | 0.38 | 0.12 | 0.25 | 0.50 | 3 |
| a,"b\\| | q\\|2 | 0.75 | 0.25 | 0.50 | 1.00 | 2 |
| a,"b\\| | all | 0.56 | 0.14 | 0.38 | 0.75 | 5 |
| c | q1 | 0.50 | 0.00 | 0.50 | 0.50 | 1 |
| c | all | 0.50 | 0.00 | 0.50 | 0.50 | 1 |
"""
MEANS = """\
| run | map | num_ret |
| --- | ---: | ---: |
| a,"b\\| | 0.375000 | 5 |
| c | 0.166667 | 1 |
"""
ALL = ["-q", "--spread", "--queries", "both", "--digits", "2"]


@pytest.mark.parametrize(
    ("form", "options", "expected"),
    [
        ("text", ALL, TEXT), ("json", [], JSON), ("csv", ALL, CSV), ("markdown", ALL, MARKDOWN),
        ("markdown", ["--digits", "6"], MEANS),
    ],
)  # fmt: skip
def test_the_output_of_eval_is_this_to_the_byte(tmp_path, monkeypatch, capfd, form, options, expected):
    """With names that each format has to quote."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / name).write_text(text)
    assert main(["eval", "qrels.txt", *RUNS, "-m", "map", "-m", "num_ret", "--format", form, *options]) == 0
    assert capfd.readouterr().out == expected


def test_a_table_in_every_format():
    """Names are quoted where they have to be, numbers are whole, and what is missing is a dash, nothing or null."""
    table = Table("Runs", ("run", "a|b"), [("x\\|y", 0.25), ('"z"', None), ("w", 2)], ("A note.",))
    assert FORMATS["text"](table) == "Runs\n\nrun      a|b\nx\\|y  0.2500\n\"z\"        –\nw          2\n\nA note.\n"
    assert FORMATS["csv"](table) == 'run,a|b\nx\\|y,0.25\n"""z""",\nw,2\n'
    assert FORMATS["markdown"](table) == (
        "| run | a\\|b |\n| --- | ---: |\n| x\\\\\\|y | 0.2500 |\n| \"z\" | – |\n| w | 2 |\n"
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
