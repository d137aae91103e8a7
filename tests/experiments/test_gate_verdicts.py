"""The gate: its verdicts, that equal scores never fail, saved bases, repeated runs, and the forms of its output."""

import importlib.resources
import json

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware.errors import InputError
from tieaware.experiments import gate
from tieaware.experiments._gate import _detectable
from tieaware.results import storage
from tieaware.statistics import mean_change
from tieaware.statistics.mean_changes import topics_to_show
from tieaware.testing import assert_not_worse

pytest.importorskip("scipy")
N = 12
QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(N)}


def run_with(ranks, extra=10):
    """Return a run in which document a has the given rank for each query, and b is not retrieved."""
    run = {}
    for i, rank in enumerate(ranks):
        scores = {f"x{j}": float(-j) for j in range(1, extra + 1) if j != rank}
        run[f"q{i}"] = {"a": float(-rank), **scores}
    return run


FIRST, MIXED, LAST = run_with([1] * N), run_with([1, 2, 3] * (N // 3)), run_with([2, 4, 6] * (N // 3))


@pytest.mark.parametrize(
    ("run", "base", "tolerance", "decision", "start"),
    [
        (LAST, FIRST, 0.01, "worse", "FAIL: RR fell by 0.694 (95%: 0.600 to 0.788; 1.000 → 0.306, p = "),
        (FIRST, LAST, 0.01, "better", "PASS: RR rose by 0.694 (95%: 0.600 to 0.788; 0.306 → 1.000, p = "),
        (MIXED, MIXED, 0.0, "kept", "PASS: RR did not change (0.611, 12 queries)."),
        (LAST, FIRST, 0.9, "kept", "PASS: RR fell by 0.694 (95%: 0.600 to 0.788; 1.000 → 0.306, p = "),
        (run_with([2, 1] * (N // 2)), run_with([1, 2] * (N // 2)), 0.01, "cannot tell",
         "CANNOT TELL: RR did not change (95%: a fall of 0.332 to a rise of 0.332; 0.750 → 0.750, p = 1, 12 queries); "
         "these queries can exclude a loss of 0.464, not of 0.01."),
    ],
)  # fmt: skip
def test_verdicts(run, base, tolerance, decision, start):
    outcome = gate(QRELS, {"new": run}, {"old": base}, "RR", tolerance=tolerance)
    assert (outcome.decision, outcome.passed) == (decision, decision != "worse")
    assert outcome.sentence.startswith(start)
    assert outcome.verdict().startswith(outcome.sentence)
    assert outcome.to_dict()["verdict"] == decision


def test_too_few_queries_say_how_many_would_decide():
    outcome = gate(QRELS, {"new": run_with([2, 1] * 6)}, {"old": run_with([1, 2] * 6)}, "RR", tolerance=0.05)
    (measure,) = outcome.to_dict()["measures"]
    change = outcome.judged[0].change
    assert measure["queries_needed"] == tieaware.statistics.topics_needed(0.05, change.variance)
    assert measure["detectable_loss"] >= tieaware.statistics.detectable_difference(N, change.variance)
    excluded = tieaware.statistics.detectable_difference(N, change.variance)
    plan = f"judge {measure['queries_needed']:,} queries, or allow a tolerance of {excluded:.3f}."
    assert f"To decide with this probability, if nothing changed, {plan}" in outcome.verdict()


def renamed(rng, *mappings):
    """Return {query: {document: number}} with other names of queries and documents, the same ones in each mapping."""
    queries = {query for mapping in mappings for query in mapping}
    documents = {document for mapping in mappings for each in mapping.values() for document in each}
    names = [dict(zip(sorted(old), rng.permutation(len(old)).tolist(), strict=True)) for old in (queries, documents)]
    return [
        {f"t{names[0][query]}": {f"n{names[1][d]}": x for d, x in each.items()} for query, each in mapping.items()}
        for mapping in mappings
    ]


def shuffled(rng, mapping):
    """Return {query: {document: number}} with its rows in another order."""
    def items(each):
        rows = list(each.items())
        return [rows[i] for i in rng.permutation(len(rows))]

    return {query: dict(items(each)) for query, each in items(mapping)}


def test_identical_scores_never_fail():
    """Not even with a tolerance of 0: the values of the queries have the same bits in any order, under any names."""
    rng = np.random.default_rng(5)
    run = {q: {d: float(rng.integers(3)) for d in ("a", "b", *(f"x{j}" for j in range(6)))} for q in QRELS}
    # Each gate has the queries of a hundred copies, which makes 10,000 renamings and shuffles.
    for _ in range(100):
        qrels, scores = {}, {}
        for copy in range(100):
            for whole, renamings in zip((qrels, scores), renamed(rng, QRELS, run), strict=True):
                whole.update({f"{copy} {query}": each for query, each in renamings.items()})
        outcome = gate(
            shuffled(rng, qrels), {"new": shuffled(rng, scores)}, {"old": scores}, "nDCG@3 RR", tolerance=0.0
        )
        assert [each.decision for each in outcome.judged] == ["kept", "kept"]
        np.testing.assert_array_equal(outcome.before_values, outcome.after_values)


def test_all_measures_decide_with_holms_correction():
    outcome = gate(QRELS, {"new": LAST}, {"old": FIRST}, "RR R@10")
    by_name = {each["measure"]: each for each in outcome.to_dict()["measures"]}
    assert (by_name["RR"]["verdict"], by_name["R@10"]["verdict"], outcome.decision) == ("worse", "kept", "worse")
    assert by_name["RR"]["p"] == 2 * outcome.judged[0].change.p
    assert "Holm's p = " in outcome.sentence


def test_a_measure_that_would_fail_alone_is_named():
    """With p = 0.017, RR fails alone; of six measures, Holm's p is six times as large."""
    run = run_with([1] * 7 + [2] * 5)
    alone = gate(QRELS, {"new": run}, {"old": FIRST}, "RR")
    assert (alone.decision, round(alone.judged[0].p, 3)) == ("worse", 0.017)
    outcome = gate(QRELS, {"new": run}, {"old": FIRST}, "RR R@10 P@1 nDCG@10 R@5 R@3")
    assert outcome.decision == "cannot tell"
    assert " RR and P@1 and nDCG@10 alone would fail: " in outcome.verdict()
    assert "alone would fail" not in alone.verdict()


def test_less_is_better_where_it_is():
    outcome = gate(QRELS, {"new": LAST}, {"old": FIRST}, "ESL")
    (measure,) = outcome.to_dict()["measures"]
    assert (measure["verdict"], measure["change"] > 0, measure["low"] > 0) == ("worse", True, True)
    assert outcome.sentence.startswith("FAIL: ESL rose by ")


def test_missing_queries_are_refused_or_count_0():
    lacking = {query: each for query, each in FIRST.items() if query not in ("q3", "q7")}
    with pytest.raises(InputError) as error:
        gate(QRELS, {"new": lacking}, {"old": FIRST}, "RR")
    assert str(error.value) == (
        "run new: no documents for 2 queries that the base answers: q3, q7; if that is meant, --allow-missing (in "
        "Python allow_missing=True) counts them 0"
    )
    outcome = gate(QRELS, {"new": lacking}, {"old": FIRST}, "RR", allow_missing=True)
    assert outcome.to_dict()["missing"] == ["q3", "q7"]
    assert outcome.judged[0].change.difference == pytest.approx(-2 / N)
    # Queries that neither side answers are no difference between them.
    assert gate(QRELS, {"new": lacking}, {"old": lacking}, "RR").decision == "kept"


def test_the_lost_queries_name_the_document_that_lost_most():
    qrels = {**QRELS, "q1": {"a": 1, "b": 2}}
    base = {query: {"b": 3.0, "a": 2.0, "x": 2.0} for query in qrels}
    run = {**base, "q1": {"x": 3.0, "a": 2.0}, "q2": {"x": 3.0, "b": 2.0, "a": 1.0}}
    rows = gate(qrels, {"new": run}, {"old": base}, "nDCG@10").to_dict()["lost"]
    assert [(row["query"], row["document"], row["label"], row["rank_before"], row["rank_now"]) for row in rows] == [
        ("q1", "b", 2, 1.0, None), ("q2", "b", 1, 1.0, 2.0),
    ]  # fmt: skip
    # Documents that tie share their mean rank.
    tied = {**base, "q4": {"b": 1.0, "a": 1.0, "x": 1.0}}
    (row,) = gate(qrels, {"new": tied}, {"old": base}, "nDCG@10").to_dict()["lost"]
    assert (row["query"], row["document"], row["rank_before"], row["rank_now"]) == ("q4", "b", 1.0, 2.0)


def test_ties_are_a_range_and_no_coin_flip():
    tied = {query: {"a": 1.0, "x": 1.0} for query in QRELS}
    sure = {query: {"a": 2.0, "x": 1.0} for query in QRELS}
    outcome = gate(QRELS, {"new": tied}, {"old": sure}, "RR")
    (measure,) = outcome.to_dict()["measures"]
    assert (measure["change"], measure["ties_low"], measure["ties_high"]) == (-0.25, -0.5, 0.0)
    assert "were ordered, there could be anything from a fall of 0.500 to no change." in outcome.verdict()


def test_a_saved_base_gives_the_same_verdict(tmp_path):
    path = tmp_path / "base.npz"
    gate(QRELS, {"old": MIXED}, {"old": MIXED}, "RR nDCG@10").save(path)
    backwards = {query: dict(reversed(each.items())) for query, each in reversed(QRELS.items())}
    for qrels in (QRELS, backwards):
        with_run, with_file = (gate(qrels, {"new": LAST}, base, "RR") for base in ({"old": MIXED}, path))
        assert with_file.to_dict() == with_run.to_dict()
    # Without measures, those of the base are judged.
    assert [each.name for each in gate(QRELS, {"new": LAST}, path).judged] == ["RR", "nDCG@10"]


def test_other_judgments_and_measures_are_refused(tmp_path):
    path = str(tmp_path / "base.npz")
    gate(QRELS, {"old": MIXED}, {"old": MIXED}, "RR").save(path)
    changed, run_file = {**QRELS, "q0": {"a": 1}}, tmp_path / "mixed.run"
    tieaware.Run.from_dict(MIXED, name="mixed").write(run_file)
    tieaware.evaluate(QRELS, run_file, "RR", out=tmp_path)
    other = str(tmp_path / "mixed.npz")
    for message, arguments in {
        f"{path}: was saved with other judgments than qrels; give the base's run": (changed, LAST, path),
        f"{path}: holds RR, but not AP; give the run that it was made from": (QRELS, LAST, path, "AP"),
        f"{other}: the values were stored with other judgments than qrels": (changed, LAST, other),
    }.items():
        with pytest.raises(InputError) as error:
            gate(*arguments)
        assert str(error.value) == message


def test_values_that_were_stored_serve_as_either_side(tmp_path):
    """Stored values have no ranks, and perhaps no spread; the verdict is the same."""
    paths = {}
    for name, run in (("first", FIRST), ("last", LAST)):
        tieaware.evaluate(QRELS, {name: run}, "nDCG@10 RR").save(paths.setdefault(name, tmp_path / f"{name}.npz"))
    expected = gate(QRELS, {"last": LAST}, {"first": FIRST}, "RR")
    for sides in ((paths["last"], {"first": FIRST}), ({"last": LAST}, paths["first"]), (paths["last"], paths["first"])):
        outcome = gate(QRELS, *sides, "RR")
        assert outcome.sentence == expected.sentence
        assert outcome.judged[0].change == expected.judged[0].change
    assert outcome.to_dict()["measures"][0]["ties_low"] is None
    short = {query: each for query, each in FIRST.items() if query != "q3"}
    tieaware.evaluate(QRELS, {"short": short}, "RR").save(paths["last"])
    with pytest.raises(InputError, match="does not say which queries are unanswered; give the run"):
        gate(QRELS, paths["last"], {"first": FIRST}, "RR")


def test_small_losses_do_not_add_up(tmp_path):
    """Each step loses less than the tolerance, but the chain may not."""
    path = str(tmp_path / "base.npz")
    runs = [{q: {"a": 2.0, **{f"x{j}": 3.0 for j in range(k)}} for q in QRELS} for k in (9, 10, 11, 12)]
    gate(QRELS, {"r0": runs[0]}, {"r0": runs[0]}, "RR").save(path)
    second = gate(QRELS, {"r1": runs[1]}, path)
    assert second.decision == "kept"
    second.save(path)
    third = gate(QRELS, {"r2": runs[2]}, path)
    assert third.decision == "kept"
    with pytest.raises(InputError, match=r"its RR, 0\.083, has lost 0\.017 since the first base, 0\.100$"):
        third.save(path)
    # With a smaller tolerance, the base itself has fallen too far.
    with pytest.raises(InputError, match=r"has lost 0\.009 since the first base, 0\.100: small losses have added up"):
        gate(QRELS, {"r1": runs[1]}, path, tolerance=0.005)
    with pytest.raises(InputError, match="a run that is worse is not saved as a base"):
        gate(QRELS, {"new": LAST}, {"old": FIRST}, "RR").save(path)


def test_repeated_runs_are_one_system():
    repeated = {"a": MIXED, "b": LAST, "c": MIXED}
    outcome = gate(QRELS, repeated, {"old": FIRST}, "RR")
    values = tieaware.evaluate(QRELS, repeated, "RR").values[:, :, 0]
    first = tieaware.evaluate(QRELS, FIRST, "RR").values[:, :, 0]
    assert outcome.judged[0].change == tieaware.statistics.mean_change(first, values)
    assert outcome.title.startswith("3 runs (a, b, c) against old: 12 queries")


def test_the_json_has_the_keys_of_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    path = importlib.resources.files("tieaware.experiments").joinpath("gate.schema.json")
    schema = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for run, base, measures in ((LAST, FIRST, "RR"), (FIRST, FIRST, "RR AP"), (MIXED, LAST, "infAP")):
        outcome = gate(QRELS, {"new": run}, {"old": base}, measures)
        validator.validate(json.loads(outcome.to_json()))
    found = outcome.to_dict()
    found["more"] = 1
    assert not validator.is_valid(found)


def test_markdown_begins_with_the_verdict():
    text = gate(QRELS, {"new_run": LAST}, {"old": FIRST}, "RR").to_markdown()
    assert text.startswith("**FAIL:** RR fell by 0.694 ")
    assert "| RR | 1.0000 | 0.3056 |" in text
    assert "The queries that lost most by RR" in text


def test_the_assertion_of_test_suites():
    assert_not_worse(QRELS, FIRST, LAST, "RR")
    with pytest.raises(AssertionError, match=r"FAIL: RR fell by 0\.694"):
        assert_not_worse(QRELS, LAST, FIRST, "RR")
    open_case = run_with([2, 1] * 6), run_with([1, 2] * 6)
    assert_not_worse(QRELS, *open_case, "RR")
    with pytest.raises(AssertionError, match="CANNOT TELL"):
        assert_not_worse(QRELS, *open_case, "RR", strict=True)
    with pytest.raises(InputError) as error:
        assert_not_worse(QRELS, run_with([1] * 3), FIRST, "RR")
    # This function and assert_not_worse: nothing of what lies below them.
    assert len(error.traceback) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tolerance": -1.0}, "tolerance: expected a number from 0 to 1e+150, found -1.0"),
        ({"alpha": 0.0}, "alpha: expected a number from 1e-09 to 0.5, found 0.0"),
        ({"tolerance": 5.0}, "tolerance: must be less than 1, the largest value of nDCG@10; found 5"),
        ({"measures": "gm_map"}, "measures: the summary of GMAP is not an arithmetic mean, so no test compares it"),
        ({"measures": "NumRet"}, "measures: the summary of NumRet is not an arithmetic mean, so no test compares it"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(InputError) as error:
        gate(QRELS, {"new": LAST}, {"old": FIRST}, **arguments)
    assert str(error.value) == message


def test_measures_in_another_order_keep_their_first_values(tmp_path):
    """A chain may be judged by fewer measures, in another order, and with stored values that have no spread."""
    path = str(tmp_path / "base.npz")
    gate(QRELS, {"old": MIXED}, {"old": MIXED}, "RR nDCG@10 AP").save(path)
    for measures in ("nDCG@10 RR", "RR"):
        outcome = gate(QRELS, {"new": MIXED}, path, measures)
        assert outcome.decision == "kept"
        outcome.save(path)
        first = gate(QRELS, {"new": MIXED}, path).before.first
        expected = tieaware.evaluate(QRELS, MIXED, measures)
        np.testing.assert_array_equal(first.values, expected.values)
        assert (first.names, first.runs) == (expected.names, ("first base: old",))
    tieaware.evaluate(QRELS, {"stored": MIXED}, "RR", chance=True).save(other := tmp_path / "stored.npz")
    gate(QRELS, other, {"old": MIXED}, "RR").save(path)
    assert gate(QRELS, {"new": MIXED}, path).decision == "kept"


@pytest.mark.parametrize("options", [{"ties": "optimistic"}, {"precision": "decimals:0"}, {"queries": "both"}])
def test_stored_values_must_be_averages(options, tmp_path):
    tieaware.evaluate(QRELS, {"old": MIXED}, "RR", **options).save(tmp_path / "old.npz")
    message = message_of(gate, QRELS, {"new": MIXED}, tmp_path / "old.npz", "RR")
    assert message.endswith("the values were not averages over ties of all judged queries by score; give the run")


def test_options_that_only_a_checkpoint_knows_are_refused(tmp_path):
    tieaware.Run.from_dict(MIXED, name="mixed").write(tmp_path / "mixed.run")
    tieaware.evaluate(QRELS, tmp_path / "mixed.run", "RR", out=tmp_path, order="file")
    assert "not averages over ties" in message_of(gate, QRELS, {"new": MIXED}, tmp_path / "mixed.npz", "RR")


def test_unanswered_queries_of_both_sides_are_said():
    lacking = {query: each for query, each in FIRST.items() if query not in ("q3", "q7")}
    message = "base old: no documents for 2 queries that the run answers: q3, q7; if that is meant, --allow-missing "
    assert message_of(gate, QRELS, {"new": FIRST}, {"old": lacking}, "RR").startswith(message)
    outcome = gate(QRELS, {"new": FIRST}, {"old": lacking}, "RR", allow_missing=True)
    assert "The base has no documents for 2 of 12 queries, which count 0." in outcome.verdict()
    assert (outcome.to_dict()["base_unanswered"], outcome.to_dict()["run_unanswered"]) == (2, 0)
    outcome = gate(QRELS, {"new": lacking}, {"old": lacking}, "RR")
    assert "Neither side has documents for 2 of 12 queries." in outcome.verdict()
    # One of the repeated base runs answers q3, so the run must, too.
    message = message_of(gate, QRELS, {"new": lacking}, {"a": FIRST, "b": lacking}, "RR")
    assert "that the base answers: q3, q7" in message


def test_equal_changes_of_few_queries_are_not_certain():
    """Two values of a measure make all differences equal quite often: the sign test knows how often."""
    qrels, base, run = ({q: each[q] for q in list(QRELS)[:4]} for each in (QRELS, FIRST, run_with([2] * N)))
    outcome = gate(qrels, {"new": run}, {"old": base}, "RR")
    assert (outcome.judged[0].p, outcome.decision) == (0.125, "cannot tell")
    assert gate(QRELS, {"new": run_with([2] * N)}, {"old": FIRST}, "RR").decision == "worse"


def test_planned_numbers_are_those_of_the_verdict():
    """The detectable loss is found, and the needed number of queries decides, in 80 % of simulated samples."""
    rng = np.random.default_rng(10)
    change = mean_change(np.zeros(50), 0.1 * rng.standard_normal(50))
    for tolerance in (0.0, 0.02, 0.1):
        loss = _detectable(change, tolerance, 0.05)
        deviation = np.sqrt(change.variance)
        samples = (mean_change(np.zeros(50), deviation * rng.standard_normal(50) - loss) for _ in range(1500))
        assert 0.75 < np.mean([each.decision(tolerance) == "worse" for each in samples]) < 0.85
    needed = topics_to_show(0.02, change.variance, 0.05)
    samples = (mean_change(np.zeros(needed), deviation * rng.standard_normal(needed)) for _ in range(1500))
    assert 0.75 < np.mean([each.decision(0.02) == "kept" for each in samples]) < 0.86


@pytest.mark.parametrize(
    "changes",
    [{"first": "1"}, {"first": 7}, {"first": -1}, {"ranks": [1]}, {"unanswered": 5}, {"silent": ["other"]}, {"gate": 2},
     {"judgments": 1}, {"ranks": [["q0", [["a", "x"]]]]}],
)  # fmt: skip
def test_other_content_beside_the_values_is_refused_in_one_line(changes, tmp_path):
    path = str(tmp_path / "base.npz")
    gate(QRELS, {"old": MIXED}, {"old": MIXED}, "RR").save(path)
    fields, key = storage.read_with_key(path)
    storage.write({**fields}, path, {**key, **changes})
    message = message_of(gate, QRELS, {"new": MIXED}, path)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("n", "message"),
    [(2, "qrels: a gate needs at least 3 queries; the judgments have 2 queries"),
     (1, "qrels: a gate needs at least 3 queries; the judgments have 1 query")],
)  # fmt: skip
def test_too_few_queries_for_any_verdict(n, message):
    qrels, run = ({q: each[q] for q in list(QRELS)[:n]} for each in (QRELS, FIRST))
    assert message_of(gate, qrels, run, run, "RR") == message
