"""Results: their display, names, frames, joining and bias."""

import re
from dataclasses import replace

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from support.errors import message_of

import tieaware
from tieaware import InputError, Results

QRELS = {f"q{i}": {"a": 1, "b": i % 2} for i in range(4)}
TIED = {query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in QRELS}
RUNS = {
    "x": TIED,
    "y": {**TIED, "q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0, "c": 2.0}},
    "<z>": {query: {"c": 1.0, "a": 0.5} for query in QRELS},
}
MEASURES = ["map", "nDCG@2", "num_ret", "gm_map"]


@pytest.fixture(scope="module")
def results():
    return tieaware.evaluate(QRELS, RUNS, MEASURES, spread=True)


def same(one, other):
    """Return whether two results have the same names, provenance and bits."""
    cubes = one.cubes(), other.cubes()
    return (
        (one.runs, one.queries, one.measures, one.names) == (other.runs, other.queries, other.measures, other.names)
        and one.provenance == other.provenance
        and cubes[0].keys() == cubes[1].keys()
        and all(np.array_equal(cube.view(np.int64), cubes[1][name].view(np.int64)) for name, cube in cubes[0].items())
        and one.mean().tobytes() == other.mean().tobytes()
    )


def selection(results, runs=slice(None), queries=slice(None), **changed):
    """Return some runs and queries of results."""
    cubes = {name: np.ascontiguousarray(cube[runs][:, queries]) for name, cube in results.cubes().items()}
    axes = {"runs": results.runs[runs], "queries": results.queries[queries], "measures": results.measures}
    return Results(**{**cubes, **axes, "names": results.names, "provenance": results.provenance, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"values": None}, r"values of results: expected an array of float64 of shape \(3, 4, 4\), found None"),
        ({"values": np.zeros((3, 4))}, r"values of results: expected .* \(3, 4, 4\), found float64 of shape \(3, 4\)"),
        ({"min": np.zeros((3, 4, 4), int)}, "min of results: expected an array of float64 of .*, found int64 of .*"),
        ({"measures": ("AP",) * 4}, "measures of results: expected a Measure, found 'AP'"),
        ({"names": ("map",)}, "names of results: the number of names is 1, the number of measures 4"),
        ({"runs": ("x",)}, r"values of results: expected .* \(1, 4, 4\), found .*"),
    ],
)
def test_fields_that_do_not_fit_together_are_refused(results, changed, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        replace(results, **changed)


def test_results_are_as_long_as_their_runs_and_iterate_over_their_names(results):
    assert len(results) == 3
    assert list(results) == ["x", "y", "<z>"]
    assert "x" in results
    assert "map" not in results
    assert [len(results[run]) for run in results] == [1, 1, 1]


def test_the_repr_is_a_few_lines(results):
    assert repr(results) == str(results)
    assert repr(results).splitlines() == [
        "Results of 3 runs, 4 queries, 4 measures",
        "Means over 4 queries, ties: average",
        "",
        "run     map  nDCG@2  num_ret  gm_map",
        "x    0.7083  0.6052       12  0.7016",
        "y    0.7292  0.7103       10  0.7044",
        "<z>  0.3750  0.5089        8  0.3536",
    ]
    measures = tuple(tieaware.P @ k for k in range(1, 10))
    many = Results(np.zeros((99, 1, 9)), tuple(map(str, range(99))), ("q",), measures)
    lines = repr(many).splitlines()
    assert len(lines) == 11
    assert lines[1] == "Means over 1 query"
    assert lines[-2:] == ["and 94 more runs", "and 3 more measures: P@7, P@8, P@9"]
    assert many._repr_html_().count("<tr>") == 61
    assert ">And 39 more runs.</p>" in many._repr_html_()


def test_notebooks_show_the_table_of_means(results):
    page = results._repr_html_()
    assert page == results.means()._repr_html_()
    assert page.startswith("<p><b>Means over 4 queries, ties: average</b></p>\n<div ")
    assert ">&lt;z&gt;</td>" in page
    assert "<z>" not in page
    assert ">map_std</th>" in page


def test_one_more_run_is_singular():
    values, measures = np.zeros((6, 1, 7)), tuple(tieaware.P @ k for k in range(1, 8))
    six = Results(values, tuple("abcdef"), ("q",), measures)
    assert repr(six).splitlines()[-2:] == ["and 1 more run", "and 1 more measure: P@7"]
    many = Results(np.zeros((1, 1, 99)), ("a",), ("q",), tuple(tieaware.P @ k for k in range(1, 100)))
    assert repr(many).splitlines()[-1].endswith("P@15, P@16, …")
    sixty_one = Results(np.zeros((61, 1, 1)), tuple(map(str, range(61))), ("q",), (tieaware.AP,))
    assert ">And 1 more run.</p>" in sixty_one._repr_html_()


def test_means_export_to_every_data_frame(results, tmp_path):
    """The exported table has the values of `summary` and the means of the spread, under the requested names."""
    plain = tieaware.evaluate(QRELS, RUNS, MEASURES)
    table = plain.means()
    expected = {"run": list(RUNS)} | dict(zip(MEASURES, plain.summary().T.tolist(), strict=True))
    assert table.to_dict() == expected
    assert table.notes == ("num_ret: summed over the queries.",)
    assert table.to_pandas().equals(pandas.DataFrame(expected).astype({"num_ret": "int64"}))
    assert table.to_polars().equals(polars.DataFrame(table.to_dict()))
    assert table.to_arrow().equals(pyarrow.table(table.to_dict()))
    table.to_parquet(tmp_path / "means.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "means.parquet").equals(table.to_arrow())
    table.to_csv(tmp_path / "means.csv")
    assert (tmp_path / "means.csv").read_text() == table.csv()
    assert table.csv().startswith(f"run,map,nDCG@2,num_ret,gm_map\nx,{expected['map'][0]!r},")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["means.csv", "means.parquet"]
    spread = results.means().to_dict()
    assert list(spread)[1:5] == ["map", "map_std", "map_min", "map_max"]
    np.testing.assert_array_equal(spread["map_std"], results.mean_std()[:, 0])
    np.testing.assert_array_equal(spread["map_max"], results.max[:, :, 0].mean(axis=1))


def test_values_are_written_to_files_as_to_data_frames(tmp_path):
    """The files have the rows and columns of the frames: unanswered queries are left out, undefined values are NaN."""
    runs = {"x": {"q0": TIED["q0"], "q2": {"a": 1.0}}, "y": {"q2": TIED["q2"]}}
    values = tieaware.evaluate(QRELS, runs, ["AP", "num_ret"], spread=True, queries="both")
    values.values[0, 0, 0] = np.nan
    values.to_csv(tmp_path / "values.csv")
    values.to_parquet(tmp_path / "values.parquet")
    lines = (tmp_path / "values.csv").read_text().splitlines()
    assert lines[:2] == [
        "run,query,AP,AP_std,AP_min,AP_max,num_ret",
        f"x,q0,nan,{float(values.std[0, 0, 0])!r},{1 / 3!r},1.0,3.0",
    ]
    assert [line[:4] for line in lines[1:]] == ["x,q0", "x,q2", "y,q2"]
    assert pandas.read_csv(tmp_path / "values.csv").equals(values.to_pandas())
    assert (
        pyarrow.parquet.read_table(tmp_path / "values.parquet").to_pydict().keys()
        == values.to_arrow().to_pydict().keys()
    )
    assert polars.read_parquet(tmp_path / "values.parquet").equals(values.to_polars())
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["values.csv", "values.parquet"]


def test_values_of_integer_queries_and_of_hostile_names_are_written(tmp_path):
    values = Results(np.array([[[0.1], [0.2]]]), ('a,"b"\n',), (301, 302), (tieaware.AP,))
    values.to_csv(tmp_path / "values.csv")
    assert (tmp_path / "values.csv").read_text() == 'run,query,AP\n"a,""b""\n",301,0.1\n"a,""b""\n",302,0.2\n'
    values.to_parquet(tmp_path / "values.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "values.parquet")["query"].to_pylist() == [301, 302]


@pytest.mark.parametrize("write", ["to_csv", "to_parquet"])
def test_values_that_cannot_be_written_are_an_error(results, tmp_path, write):
    assert "gone/values: No such file" in message_of(getattr(results, write), tmp_path / "gone" / "values")
    assert list(tmp_path.iterdir()) == []


def test_exports_keep_the_requested_names(results):
    names = ["map", "map_std", "map_min", "map_max"]
    assert list(results.to_dict()["x"]["q0"])[:4] == names
    assert results.to_pandas().columns[2:6].tolist() == names
    assert [line.split("\t")[0].strip() for line in results.to_trec_eval().splitlines()[1:5]] == names
    for name in ("map", "AP", tieaware.AP):
        np.testing.assert_array_equal(results["x", name], results.values[0, :, 0])
    assert tieaware.evaluate(QRELS, TIED, [tieaware.AP(rel=1), "P @ 2"]).names == ("AP", "P @ 2")


def test_a_measure_may_be_requested_once_under_each_name():
    """A measure that is requested under two names has two columns, but the same name twice is an error."""
    both = tieaware.evaluate(QRELS, TIED, ["AP", "map"])
    assert list(both.to_dict()["run"]["q0"]) == ["AP", "map"]
    for twice in (["AP", "AP"], ["AP", tieaware.AP], ["P@5", "P@2", " P@5"]):
        with pytest.raises(InputError, match=r"^measures: must be different, but (AP|P@5) is given twice$"):
            tieaware.evaluate(QRELS, TIED, twice)


def test_results_have_a_provenance():
    made = tieaware.evaluate(QRELS, TIED, "AP", ties="trec_eval", precision="decimals:2", queries="both")
    assert made.provenance == ("trec_eval", "decimals:2", "both", tieaware.__version__, False)
    assert made["run"].provenance == made.provenance
    over = "the queries that each run answers, 4 queries in all"
    assert made.title == f"Means over {over}, ties: trec_eval, precision: decimals:2"
    assert Results(made.values, made.runs, made.queries, made.measures).provenance is None


def test_the_title_says_how_many_queries_a_run_leaves_unanswered(tmp_path):
    short, shorter = ({query: TIED[query] for query in queries} for queries in (("q0", "q1", "q2"), ("q0",)))
    runs = {"full": TIED, "short": short}
    found = tieaware.evaluate(QRELS, runs, "AP")
    assert found.unanswered == {"short": 1}
    title = "Means over 4 queries, 1 of them unanswered by short, ties: average"
    assert found.title == found.means().title == found["short"].title == str(found).splitlines()[1] == title
    assert found["full"].title == "Means over 4 queries, ties: average"
    more = tieaware.evaluate(QRELS, {"shorter": shorter}, "AP")
    joined = Results.concat([found, more])
    assert joined.unanswered == {"short": 1, "shorter": 3}
    assert joined.title == "Means over 4 queries, up to 3 of them unanswered, ties: average"
    for name in ("results.npz", "results.parquet"):
        joined.save(tmp_path / name)
        assert Results.load(tmp_path / name).unanswered == joined.unanswered


def test_unanswered_queries_are_counted_where_they_count(tmp_path):
    """Queries that are left out are not counted; those that `concat` adds, and those in checkpoints, are."""
    qrels = {**QRELS, "without": {"a": 0}}
    runs = {"x": TIED, "y": {"q0": TIED["q0"]}}
    assert tieaware.evaluate(qrels, runs, "AP").unanswered == {"x": 1, "y": 4}
    assert tieaware.evaluate(qrels, runs, "AP", undefined=np.nan).unanswered == {"y": 3}
    both = tieaware.evaluate(qrels, runs, "AP", queries="both")
    assert both.unanswered == {}
    assert Results.concat([both], qrels).unanswered == {"x": 1, "y": 4}
    (tmp_path / "y.run").write_text("q0 Q0 a 1 1.0 y\n")
    for _ in range(2):
        again = tieaware.evaluate(qrels, tmp_path / "y.run", "AP", out=tmp_path / "checkpoints")
        assert again.unanswered == {"y": 4}


def test_joined_queries_and_runs_equal_the_whole(results):
    """Results are joined along queries or runs. The other axis may have any order, and the spread is joined too."""
    assert same(Results.concat([selection(results, queries=slice(i, i + 1)) for i in range(4)]), results)
    assert same(Results.concat([selection(results, runs=slice(i, i + 1)) for i in range(3)]), results)
    assert same(Results.concat([results]), results)
    turned = selection(results, runs=slice(None, None, -1), queries=slice(2, None))
    assert same(Results.concat([selection(results, queries=slice(0, 2)), turned]), results)
    plain = selection(results, runs=slice(2, 3), std=None, min=None, max=None)
    joined = Results.concat([selection(results, runs=slice(0, 2)), plain])
    assert joined.cubes().keys() == {"values"}
    np.testing.assert_array_equal(joined.values, results.values)
    old = results.provenance._replace(version="0.0.1")
    joined = Results.concat(
        [selection(results, runs=slice(0, 2)), selection(results, runs=slice(2, 3), provenance=old)]
    )
    assert joined.provenance.version == f"{tieaware.__version__}, 0.0.1"
    unknown = selection(results, runs=slice(2, 3), provenance=None)
    assert Results.concat([selection(results, runs=slice(0, 2)), unknown]).provenance is None


def test_results_that_cannot_be_joined_are_refused(results):
    first = selection(results, slice(0, 2), slice(0, 2))
    qrels = {**QRELS, "without": {"a": 0}}
    for others, message in (
        ([], "results: must hold at least one result"),
        ([first, 5], r"results\[1\]: expected Results, found 5"),
        ([first, selection(results, slice(0, 2), slice(1, 3))],
         r"results\[1\]: results\[0\] already has the query 'q1'"),
        ([first, selection(results, slice(2, 3), slice(0, 2)), selection(results, slice(1, 2), slice(0, 2))],
         r"results\[2\]: results\[0\] already has the run 'y'"),
        ([first, selection(results, slice(1, 3), slice(1, 3))],
         r"results\[1\]: all results must have the same runs, or all the same queries; "
         r"this one shares runs such as 'y' and queries such as 'q1' with results\[0\]"),
        ([first, selection(results, slice(2, 3), slice(2, 3))], r".* this one shares no runs and no queries with .*"),
        ([first, tieaware.evaluate(QRELS, {"w": TIED}, ["AP"])],
         r"results\[1\]: has other measures than results\[0\]: AP instead of map, nDCG@2, num_ret, gm_map"),
        ([first, tieaware.evaluate(QRELS, {"w": TIED}, MEASURES, ties="run_order")],
         r"results\[1\]: has another tie rule than results\[0\]: run_order instead of average"),
        ([tieaware.evaluate(qrels, {"x": TIED}, "AP"), tieaware.evaluate(qrels, {"y": TIED}, "AP", undefined=np.nan)],
         r"results\[1\]: has values for 4 queries instead of 5: evaluate all with the same `undefined`"),
    ):  # fmt: skip
        assert re.fullmatch(message, message_of(Results.concat, others))


def test_the_bias_of_a_rule_is_its_value_minus_the_expectation(results):
    ordered = tieaware.evaluate(QRELS, RUNS, MEASURES, ties="run_order")
    bias = ordered.bias(results)
    np.testing.assert_array_equal(bias.values[..., :3], (ordered.values - results.values)[..., :3])
    assert np.isnan(bias.values[..., 3]).all()
    np.testing.assert_allclose(bias.mean()[:, :2], (ordered.mean() - results.mean())[:, :2], rtol=0, atol=1e-15)
    assert bias.means().columns == ("run", "map_bias", "nDCG@2_bias", "num_ret_bias", "gm_map_bias")
    assert bias.to_dict()["x"]["q0"]["map_bias"] == 1 - (1 + 1 / 2 + 1 / 3) / 3
    assert message_of(results.bias, ordered) == "expectation: must be computed with the tie rule average, not run_order"
    assert message_of(results.bias, results["x"]) == "expectation: must have the same runs as the results"
