"""Values compared with chance: by definition, by simulation, and where they are shown, saved and joined."""

import itertools

import numpy as np
import pytest

import tieaware
from tieaware import Evaluator, InputError, Results

QRELS = {
    "q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "d": 1, "e": 1}, "q3": {"a": 0}, "q4": {"a": 1}, "q5": {"z": 1},
}  # fmt: skip
RUNS = {
    "good": {q: {d: float(10 - i) for i, d in enumerate("acdeb")} for q in ("q1", "q2", "q3", "q4")},
    "flat": {q: dict.fromkeys("abcdefg", 1.0) for q in ("q1", "q2", "q3", "q4", "q5")},
}
MEASURES = ["AP", "RR", "P@2", "ESL", "NumRel", "GMAP", "infAP", "nDCG@3"]


@pytest.fixture(scope="module")
def results():
    return tieaware.evaluate(QRELS, RUNS, MEASURES, chance=True)


def test_a_run_that_ties_everything_earns_chance(results):
    """The other run has the values of the same documents, all tied."""
    np.testing.assert_array_equal(results["flat"].chance, results["flat"].values)
    tied = {q: dict.fromkeys(documents, 0.0) for q, documents in RUNS["good"].items()}
    flat = tieaware.evaluate(QRELS, {"good": tied}, MEASURES, spread=True)
    np.testing.assert_array_equal(results["good"].chance, flat.values)
    np.testing.assert_array_equal(results["good"].chance_std, flat.std)
    less = np.array(MEASURES) == "ESL"
    np.testing.assert_array_equal(results["good"].ideal, np.where(less, flat.min, flat.max))


def test_values_are_those_without_chance(results):
    without = tieaware.evaluate(QRELS, RUNS, MEASURES)
    np.testing.assert_array_equal(results.values, without.values)
    assert (results.names, results.provenance, results.unanswered) == (
        without.names, without.provenance, without.unanswered,
    )  # fmt: skip
    assert without.chance is None
    for method in ("adjusted", "adjusted_mean", "z", "mean_z"):
        with pytest.raises(InputError, match=f"^{method}: the results have no values of chance; evaluate with chance"):
            getattr(without, method)()


def test_chance_is_beside_any_rule_and_spread():
    for options in ({"ties": "optimistic"}, {"spread": True}, {"precision": "bands:2", "spread": True}):
        found = tieaware.evaluate(QRELS, RUNS, ["AP", "RR"], chance=True, **options)
        plain = tieaware.evaluate(QRELS, RUNS, ["AP", "RR"], **options)
        for name, cube in plain.cubes().items():
            np.testing.assert_array_equal(found.cubes()[name], cube)
        np.testing.assert_array_equal(found.chance, tieaware.evaluate(QRELS, RUNS, ["AP", "RR"], chance=True).chance)


def test_adjusted_values_follow_their_definition(results):
    values, chance, std, ideal = results.values, results.chance, results.chance_std, results.ideal
    signs = np.where(np.array(MEASURES) == "ESL", -1.0, 1.0)
    adjusted, z = results.adjusted(), results.z()
    moves = ideal != chance
    expected = (values[moves] - chance[moves]) / (ideal[moves] - chance[moves])
    np.testing.assert_array_equal(adjusted[moves], expected)
    assert (~moves).any()
    assert np.isnan(adjusted[~moves]).all()
    assert (adjusted[moves & ~np.isnan(adjusted)] <= 1).all()
    np.testing.assert_array_equal(z[std > 0], ((values - chance) * signs)[std > 0] / std[std > 0])
    assert np.isnan(z[~(std > 0)]).all()
    # The perfect order of q1 has the adjusted value 1 by every measure, whether more or less of it is better.
    perfect = tieaware.evaluate({"q": {"a": 2, "b": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, MEASURES, chance=True)
    assert perfect.adjusted()[0, 0][[0, 1, 2, 3, 7]].tolist() == [1] * 5
    assert (perfect.z()[0, 0][[0, 1, 2, 3, 7]] > 0).all()


def test_means_are_adjusted_as_ratios_of_means(results):
    one = results["good"]
    n = len(one.queries)
    some = [0, 1, 2, 3, 7]
    value, chance, ideal = (cube[0].mean(axis=0)[some] for cube in (one.values, one.chance, one.ideal))
    np.testing.assert_allclose(one.adjusted_mean()[0][some], (value - chance) / (ideal - chance), rtol=1e-14)
    std = np.sqrt((one.chance_std[0][:, some] ** 2).sum(axis=0)) / n
    signs = np.array([1.0, 1.0, 1.0, -1.0, 1.0])
    np.testing.assert_allclose(one.mean_z()[0][some], signs * (value - chance) / std, rtol=1e-14)
    # Counts do not move, GMAP has a geometric mean, and the spread of infAP is not known.
    assert np.isnan(one.adjusted_mean()[0][[4, 5, 6]]).all()
    assert np.isnan(one.mean_z()[0][[4, 5, 6]]).all()


ORDERED = ["AP", "RR", "P@3", "nDCG@3", 'nDCG(dcg="exp-log2")', "DCG@3", "Q", "SDCG@3", "RBP(p=0.85)", "ERR", "ESL"]


def test_lists_whose_orders_are_all_equal_have_no_adjusted_value():
    """The value of such a list and that of its best order may differ in the last bit, whose quotient was 1 or more."""
    rng = np.random.default_rng(5)
    labels = [rng.integers(-1, 1 + i % 3, 4) for i in range(60)] + [np.full(4, i) for i in range(4)]
    evaluator = Evaluator(labels, ORDERED)
    orders = [np.tile(order, (len(labels), 1)) for order in itertools.permutations([4.0, 3.0, 2.0, 1.0])]
    values = np.stack([evaluator(order) for order in orders])
    are_equal = np.ptp(values, axis=0) < 1e-9
    assert are_equal.any(axis=0).all()
    result = evaluator.results({"some": orders[0]}, chance=True)
    np.testing.assert_array_equal(np.isnan(result.adjusted()[0]), are_equal)
    np.testing.assert_array_equal(np.isnan(result.z()[0]), are_equal)
    some = [list(each) for each, equal in zip(labels, are_equal.all(axis=1), strict=True) if equal]
    result = Evaluator(some, ORDERED).results({"some": orders[0][: len(some)]}, chance=True)
    assert (result.ideal != result.chance).any()
    assert np.isnan(result.adjusted_mean()).all()
    assert np.isnan(result.mean_z()).all()


def test_random_orders_have_an_adjusted_value_of_zero():
    """Simulated: the mean of the adjusted values is 0, that of z is 0, and its standard deviation 1."""
    rng = np.random.default_rng(30)
    labels = np.array([[1, 0, 0, 2, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 1, 1]])
    evaluator = Evaluator(labels, ["AP", "nDCG@3", "RR", "ESL", "P@2"])
    result = evaluator.results({str(i): rng.random(labels.shape) for i in range(4000)}, chance=True)
    error = 4 / np.sqrt(4000)
    assert (np.abs(result.z().mean(axis=0)) < error).all()
    assert (np.abs(result.z().std(axis=0) - 1) < 2 * error).all()
    assert (np.abs(result.mean_z().std(axis=0) - 1) < 2 * error).all()
    assert (np.abs(result.adjusted().mean(axis=0)) < error).all()


@pytest.mark.parametrize("spread", [False, True])
def test_named_scores_have_chance_too(spread):
    labels, scores = [[1, 0, 0], [0, 1, 1]], {"a": [[3.0, 2, 2], [1, 1, 0]], "b": np.zeros((2, 3))}
    evaluator = Evaluator(labels, ["AP", "RR@1"])
    found = evaluator.results(scores, ["q1", "q2"], chance=True, spread=spread)
    for i, expected in enumerate(evaluator.chance()):
        cube = (found.chance, found.chance_std, found.ideal)[i]
        np.testing.assert_array_equal(cube, np.stack([expected, expected]))
    np.testing.assert_array_equal(found.values[1], found.chance[1])
    plain = evaluator.results(scores, ["q1", "q2"], spread=spread)
    for name, cube in plain.cubes().items():
        np.testing.assert_array_equal(found.cubes()[name], cube)
    by_row = [{run: array[i : i + 1] for run, array in scores.items()} for i in (0, 1)]
    blocks = [evaluator.rows(i, i + 1).results(by_row[i], chance=True) for i in (0, 1)]
    np.testing.assert_array_equal(Results.concat(blocks).chance, found.chance)


def test_queries_without_an_answer_have_none():
    found = tieaware.evaluate(QRELS, RUNS, ["AP", "RR"], chance=True, queries="both")
    silent = found["good"].queries.index("q5")
    assert np.isnan(found["good"].chance[0, silent]).all()
    assert np.isnan(found["good"].z()[0, silent]).all()
    assert np.isfinite(found["good"].adjusted_mean()).all()
    empty = tieaware.evaluate(QRELS, RUNS, ["AP", "RR"], chance=True)["good"]
    assert (empty.chance[0, silent] == 0).all()
    assert np.isnan(empty.adjusted()[0, silent]).all()


def test_exports_have_the_columns_of_chance(results, tmp_path):
    names = [column.name for column in results.columns()]
    assert names == [
        "AP", "AP_chance", "AP_chance_std", "AP_ideal", "RR", "RR_chance", "RR_chance_std", "RR_ideal", "P@2",
        "P@2_chance", "P@2_chance_std", "P@2_ideal", "ESL", "ESL_chance", "ESL_chance_std", "ESL_ideal", "NumRel",
        "GMAP", "GMAP_chance", "GMAP_ideal", "infAP", "infAP_chance", "nDCG@3", "nDCG@3_chance", "nDCG@3_chance_std",
        "nDCG@3_ideal",
    ]  # fmt: skip
    frame = results.to_pandas()
    np.testing.assert_array_equal(frame["AP_chance"].to_numpy().reshape(2, -1), results.chance[..., 0])
    table = results.means()
    assert table["good", "AP_chance"] == pytest.approx(results["good"].chance[0, :, 0].mean(), rel=1e-15)
    expected = np.sqrt((results["good"].chance_std[0, :, 0] ** 2).sum()) / len(results.queries)
    assert table["good", "AP_chance_std"] == pytest.approx(expected, rel=1e-15)
    with pytest.raises(KeyError, match=r"'AP_chance_std' is a column of tables; write result.means\(\)\['good'"):
        results["good", "AP_chance_std"]
    with pytest.raises(KeyError, match=r"'AP_chance' is a column of tables; evaluate with chance=True"):
        tieaware.evaluate(QRELS, RUNS, "AP")["good", "AP_chance"]


def test_other_results_have_no_chance(results):
    """Runs are selected and sorted with their chance; biases have none."""
    assert results["flat"].chance.shape == (1, len(QRELS), len(MEASURES))
    flat = tieaware.evaluate(QRELS, RUNS, MEASURES, ties="run_order", chance=True)
    assert flat.bias(tieaware.evaluate(QRELS, RUNS, MEASURES)).chance is None
    assert "chance" not in repr(results)


def test_the_command_prints_chance(tmp_path, printed, refused):
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 a\nq1 Q0 d2 2 2 a\nq1 Q0 d3 3 1 a\nq1 Q0 d4 4 0 a\n")
    command = f"eval {tmp_path}/qrels {tmp_path}/a.run -m RR --chance"
    lines = [line.split("\t") for line in printed(command).splitlines()]
    assert [(name.strip(), value) for name, _, value in lines] == [
        ("RR", "0.7500"), ("RR_chance", "0.5208"), ("RR_chance_std", "0.2909"), ("RR_ideal", "1.0000"),
    ]  # fmt: skip
    assert "--chance cannot be combined with --table" in refused(f"{command} --table text")
