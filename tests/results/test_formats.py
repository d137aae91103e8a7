"""The output of `tieaware eval` in every format, byte for byte; and what other libraries read."""

import duckdb
import polars
import pytest

import tieaware

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
def test_the_output_of_eval_is_stable(tmp_path, monkeypatch, printed, form, options, expected):
    """The output is compared byte for byte. Names contain characters that each format must quote."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / name).write_text(text)
    assert printed("eval", "qrels.txt", *RUNS, "-m", "map", "-m", "num_ret", "--format", form, *options) == expected


def test_other_libraries_read_results_and_tables_by_the_interface_of_arrow():
    run = {"bm25": {"q1": {"a": 1.0, "b": 1.0}}}
    result = tieaware.evaluate({"q1": {"a": 1}, "q2": {"c": 1}}, run, ["RR", "P@1"], spread=True)
    for source in (result, result.means()):
        expected = source.to_arrow()
        for found in (duckdb.sql("SELECT * FROM source").to_arrow_table(), polars.DataFrame(source).to_arrow()):
            assert found.column_names == expected.column_names
            assert found.to_pylist() == expected.to_pylist()


def test_the_values_of_queries_are_written_to_a_file(tmp_path, monkeypatch, printed, refused):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "c.run").write_text(RUNS["c.run"])
    given = "eval", "qrels", "c.run", "-m", "RR"
    for name in ("values.parquet", "values.npz"):
        printed(*given, "--values", name)
        stored = tieaware.Results.load(name)
        assert (stored.queries, stored.values.tolist()) == (("q1", "q|2", "q\\3"), [[[1.0], [0.0], [0.0]]])
    rows = duckdb.sql("SELECT query, RR FROM 'values.parquet'").fetchall()
    assert rows == [("q1", 1.0), ("q|2", 0.0), ("q\\3", 0.0)]
    problem = "expected a file that ends in .parquet or .npz, found 'values.csv'"
    assert problem in refused(*given, "--values", "values.csv")
