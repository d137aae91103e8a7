"""tieaware as a provider of the installed ir_measures."""

from __future__ import annotations

import math
import shutil

import ir_measures
import pandas as pd
import pytest
from collections_of_dicts import collection
from ir_measures import (
    AP,
    BPM,
    ERR,
    INSQ,
    INST,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    RBP,
    RR,
    SDCG,
    Accuracy,
    Bpref,
    Compat,
    IPrec,
    Judged,
    NumQ,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)
from published_values import TABLES
from support.errors import message_of

import tieaware
from tieaware.integrations import ir_measures as ours

# All measures that ir_measures computes with its provider pytrec_eval, with every parameter.
TREC = [
    P @ 5, P(rel=2) @ 3, P(judged_only=True) @ 4, R @ 5, R(rel=2, judged_only=True) @ 10, AP, AP @ 7, AP(rel=2) @ 10,
    AP(judged_only=True), RR, RR(rel=2), RR(judged_only=True), nDCG, nDCG @ 5, nDCG(judged_only=True) @ 5,
    nDCG(gains={1: 3, 2: 5}) @ 5, nDCG(gains={2: 1}), Success @ 3, Success(rel=2, judged_only=True) @ 3, Rprec,
    Rprec(rel=2), Bpref, Bpref(rel=2), infAP, infAP(rel=2), IPrec @ 0.1, IPrec @ 0.33, IPrec(rel=2) @ 0.5,
    IPrec(judged_only=True) @ 0.25, SetP, SetP(relative=True), SetP(rel=2), SetR, SetR(rel=2), SetF, SetF(beta=0.5),
    SetAP, NumQ, NumRel, NumRet, NumRet(rel=2),
]  # fmt: skip
# For each other provider: the measures to compare, and the tolerance. gdeval prints only five digits.
OTHERS = [
    (ir_measures.judged, [Judged @ 5, Judged], 1e-12),
    (ir_measures.accuracy, [Accuracy, Accuracy @ 5, Accuracy(rel=2)], 1e-12),
    (ir_measures.msmarco, [RR @ 3, RR(rel=2) @ 4], 1e-12),
    (ir_measures.cwl_eval, [RBP(rel=1), RBP(rel=2, p=0.6)], 1e-12),
    (
        ir_measures.cwl_eval,
        [
            SDCG(max_rel=2) @ 5, SDCG(max_rel=4) @ 50, SDCG(min_rel=1, max_rel=2) @ 3, SDCG(max_rel=1) @ 2000,
            INSQ(max_rel=2), INSQ(T=2.5, min_rel=1, max_rel=3), INSQ(T=0.25, max_rel=1),
            INST(max_rel=2), INST(T=2.5, min_rel=1, max_rel=3), INST(T=0.5, max_rel=1), BPM(max_rel=2) @ 5,
            BPM(T=2.5, max_rel=2) @ 10, BPM(T=4, min_rel=1, max_rel=2) @ 2000, NERR8(max_rel=2) @ 5,
            NERR8(max_rel=4) @ 2000, NERR9(min_rel=1, max_rel=3) @ 7, NERR9(max_rel=3) @ 2000, NERR10(max_rel=3),
            NERR10(p=0.5, min_rel=1, max_rel=2), NERR11(max_rel=4), NERR11(T=2.5, min_rel=1, max_rel=3),
        ],
        1e-12,
    ),
    (ir_measures.providers.compat_provider.CompatProvider(), [Compat, Compat(p=0.8), Compat(normalize=False)], 1e-12),
    (ir_measures.gdeval, [nDCG(dcg="exp-log2") @ 5, ERR @ 5], 5.1e-6),
]

# A measure that tieaware does not have.
OF_THE_CALLER = ir_measures.define_byquery(lambda qrels, run: len(run), name="Length")


@pytest.fixture
def installed():
    """Yield the function that installs tieaware; uninstall it after the test."""
    yield ours.install
    ours.uninstall()


def values(provider, measures, qrels, run):
    return {(m.query_id, m.measure): m.value for m in provider.iter_calc(measures, qrels, run)}


def assert_same(measures, theirs, provider, qrels, run, tolerance=1e-12):
    expected = values(theirs, measures, qrels, run)
    assert values(provider, measures, qrels, run) == pytest.approx(expected, rel=0, abs=tolerance)
    aggregated = theirs.calc_aggregate(measures, qrels, run)
    assert provider.calc_aggregate(measures, qrels, run) == pytest.approx(aggregated, rel=0, abs=tolerance, nan_ok=True)


@pytest.mark.parametrize("seed", range(6))
def test_values_equal_those_of_pytrec_eval(seed):
    """Values are equal under the tie rule trec_eval. Without ties they are equal under every rule."""
    qrels, run = collection(seed, tied=seed % 2)
    assert all(ir_measures.pytrec_eval.supports(measure) for measure in TREC)
    for rule in ("trec_eval", *(() if seed % 2 else ("average", "optimistic"))):
        assert_same(TREC, ir_measures.pytrec_eval, ours.provider(rule), qrels, run)


@pytest.mark.parametrize(("theirs", "measures", "tolerance"), OTHERS, ids=lambda each: getattr(each, "NAME", None))
def test_values_equal_those_of_other_providers(theirs, measures, tolerance):
    if theirs is ir_measures.gdeval and shutil.which("perl") is None:
        pytest.skip("gdeval is a Perl script, and perl is missing")
    for seed in range(4):
        lower = (0, 0) if theirs is ir_measures.gdeval else (-2, -1)
        qrels, run = collection(seed, tied=False, labels=(*lower, 0, 1, 2))
        qrels, run = ({query[1:]: each for query, each in dicts.items()} for dicts in (qrels, run))
        assert_same(measures, theirs, ours.provider(), qrels, run, tolerance)


def test_all_supported_measures_are_compared():
    """The measures of diversity are compared in tests/measures/test_diversity.py."""
    compared = {measure.NAME for measure in [*TREC, *(each for _, measures, _ in OTHERS for each in measures)]}
    compared |= {*ours._DIVERSE}
    assert {measure.NAME for measure in ours.provider().SUPPORTED_MEASURES} == compared


@pytest.mark.parametrize("table", TABLES, ids=[table.source for table in TABLES])
def test_values_equal_those_that_ir_measures_publishes(installed, table):
    """Values per query and means agree with the published digits."""
    installed()
    qrels, run = table.qrels(), table.run()
    # The parser of ir_measures uses a part of ast that Python 3.14 no longer has.
    expected = {eval(text, {**vars(ir_measures)}): values for text, values in table.values.items()}
    found = {(m.measure, m.query_id): m.value for m in ir_measures.iter_calc(list(expected), qrels, run)}
    assert found == {
        (measure, query): pytest.approx(value, abs=6e-5)
        for measure, values in expected.items() for query, value in zip(qrels, values, strict=True)
    }  # fmt: skip
    assert ir_measures.calc_aggregate(list(expected), qrels, run) == {
        measure: pytest.approx(math.fsum(values) / (1 if measure.NAME.startswith("Num") else len(values)), abs=6e-5)
        for measure, values in expected.items()
    }


def test_values_of_empty_input_equal_those_that_ir_measures_publishes(installed):
    """ir_measures gives no value of Accuracy for a query if the run retrieves no relevant document."""
    installed()
    (accuracy,) = (table for table in TABLES if table.source == "accuracy")
    qrels, run, measures = accuracy.qrels(), accuracy.run(), [P @ 5, ERR @ 5, Judged @ 5, RR @ 5]
    for judged, retrieved, value in ((qrels, {}, 0.0), ({}, run, float("nan")), ({}, {}, float("nan"))):
        found = {(m.measure, m.query_id): m.value for m in ir_measures.iter_calc(measures, judged, retrieved)}
        assert found == {(measure, query): 0.0 for measure in measures for query in judged}
        expected = pytest.approx(dict.fromkeys(measures, value), nan_ok=True)
        assert ir_measures.calc_aggregate(measures, judged, retrieved) == expected
        assert list(Accuracy.iter_calc(judged, retrieved)) == []
        assert Accuracy.calc_aggregate(judged, retrieved) == pytest.approx(float("nan"), nan_ok=True)
    second = Accuracy(rel=2)
    assert {m.query_id: m.value for m in second.iter_calc(qrels, run)} == {"0": pytest.approx(2 / 3), "1": 0.75}


def test_judged_only_removes_unjudged_documents(installed):
    """As ir_measures documents, documents with a negative label and documents without a label are removed."""
    installed()
    qrels, run = {"0": {"D0": -1, "D1": 1, "D3": 2, "D4": 1}}, TABLES[1].run()
    run = {"0": run["0"]}
    kept = {"0": {document: score for document, score in run["0"].items() if qrels["0"].get(document, -1) >= 0}}
    for measure in (P @ 4, RR, Rprec, AP, AP @ 4, nDCG, nDCG @ 4, R @ 2, SetP, SetAP, SetF, Success @ 2, IPrec @ 0.5):
        value = measure(judged_only=True).calc_aggregate(qrels, run)
        assert value == pytest.approx(measure.calc_aggregate(qrels, kept), abs=1e-15)
        assert value != pytest.approx(measure.calc_aggregate(qrels, run), abs=1e-3)


def test_installing_changes_the_values_of_ir_measures(installed):
    """`install` can be repeated with another tie rule, and undone. Other measures keep their providers."""
    qrels, run = {"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0, "d3": 2.0}}
    pipeline = ir_measures.DefaultPipeline
    other = OF_THE_CALLER
    before, unchanged = list(pipeline.providers), other.calc_aggregate(qrels, run)
    assert ir_measures.calc_aggregate([RR], qrels, run) == {RR: 1 / 6}
    for rule, value in (("average", 11 / 18), ("average", 11 / 18), ("optimistic", 1.0), ("pessimistic", 1 / 3)):
        installed(rule)
        assert len(pipeline.providers) == len(before) + 1
        assert RR.calc_aggregate(qrels, run) == pytest.approx(value / 2)
        assert ir_measures.evaluator([RR], qrels).calc_aggregate(run) == {RR: pytest.approx(value / 2)}
        assert ir_measures.calc([RR], qrels, run).per_query[0].value == pytest.approx(value)
        assert other.calc_aggregate(qrels, run) == unchanged
        assert {m.query_id: m.value for m in ir_measures.iter_calc([RR, other], qrels, run) if m.measure == RR} == {
            "q1": pytest.approx(value), "q2": 0.0,
        }  # fmt: skip
    ours.uninstall()
    ours.uninstall()
    assert pipeline.providers == before
    assert "ties: expected one of average" in message_of(installed, "random")
    assert pipeline.providers == before


def test_all_forms_of_input(installed, tmp_path):
    """The forms are dicts, tuples, generators, files, and PyTerrier's data frames, which have additional columns."""
    qrels, run = collection(1, tied=True)
    installed()
    measures = [AP, nDCG @ 10, Judged @ 5]
    expected = {(m.query_id, m.measure): m.value for m in ir_measures.iter_calc(measures, qrels, run)}
    judged = [ir_measures.Qrel(q, d, label) for q, labels in qrels.items() for d, label in labels.items()]
    scored = [ir_measures.ScoredDoc(q, d, score) for q, scores in run.items() for d, score in scores.items()]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {label}\n" for q, d, label, _ in judged))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {score} t\n" for q, d, score in scored))
    files = ir_measures.read_trec_qrels(str(tmp_path / "qrels")), ir_measures.read_trec_run(str(tmp_path / "run"))
    frames = pd.DataFrame(judged), pd.DataFrame(scored).assign(rank=0, docid=1)
    for given in ((judged, scored), (iter(judged), iter(scored)), files, frames, (frames[0], run)):
        assert {(m.query_id, m.measure): m.value for m in ir_measures.iter_calc(measures, *given)} == expected
    with pytest.raises(ValueError, match="missing columns"):
        ir_measures.calc_aggregate(measures, qrels, frames[1].drop(columns="doc_id"))
    for nothing in ({}, {"q7": {"d": 1.0}}):
        assert ir_measures.calc_aggregate(measures, qrels, nothing) == dict.fromkeys(measures, 0.0)


def test_a_query_without_judged_documents_in_the_run_gives_no_warning():
    """Warnings are errors in the tests. The interpolation must not warn if no judged document is retrieved."""
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}, {"q1": {"z": 2.0, "y": 1.0}, "q2": {"a": 1.0, "z": 2.0}}
    assert_same([IPrec @ 0, IPrec @ 0.5, IPrec @ 1, AP], ir_measures.pytrec_eval, ours.provider(), qrels, run)


@pytest.mark.filterwarnings("ignore")
def test_experiments_of_pyterrier_run_on_it(installed):
    """The test needs PyTerrier. Without it, `test_all_forms_of_input` makes the same calls."""
    pt = pytest.importorskip("pyterrier")
    topics = pd.DataFrame([["q1", "a"], ["q2", "b"]], columns=["qid", "query"])
    qrels = pd.DataFrame([["q1", "d1", 1], ["q1", "d5", 1], ["q2", "d2", 2]], columns=["qid", "docno", "label"])
    scored = [["q1", "d1", 7.0], ["q1", "d2", 7.0], ["q1", "d3", 7.0], ["q2", "d2", 3.0], ["q2", "d9", 3.0]]
    system = pt.Transformer.from_df(pd.DataFrame(scored, columns=["qid", "docno", "score"]))

    def values():
        means = pt.Experiment([system], topics, qrels, [RR, AP], names=["system"])
        queries = pt.Experiment([system], topics, qrels, [RR], names=["system"], perquery=True)
        return [*means.loc[0, ["RR", "AP"]], *queries["value"]]

    assert values() == pytest.approx([5 / 12, 1 / 3, 1 / 3, 1 / 2])
    installed()
    assert values() == pytest.approx([49 / 72, 19 / 36, 11 / 18, 3 / 4])


def test_tieaware_takes_the_measure_objects_of_ir_measures():
    qrels, run = {"q1": {"d1": 1, "d4": 2}}, {"q1": {"d1": 7.0, "d2": 7.0, "d3": 6.5}}
    measures = [
        nDCG @ 10, nDCG(gains={1: 3, 2: 4}) @ 10, AP(rel=2) @ 100, RBP(rel=1, p=0.5), NumRet(rel=1), SetP(rel=2),
        IPrec @ 0.5, Accuracy,
    ]  # fmt: skip
    named = [
        "nDCG@10", "nDCG(gains={1: 3, 2: 4})@10", "AP(rel=2)@100", "RBP(p=0.5)", "NumRelRet", "SetP(rel=2)",
        "IPrec@0.5", "AUC",
    ]  # fmt: skip
    result = tieaware.evaluate(qrels, run, measures)
    assert result.measures == tuple(map(tieaware.parse_measure, named))
    assert result["run", nDCG @ 10, "q1"] == result["nDCG@10"][0]
    assert tieaware.Evaluator([1, 0], RR)([1.0, 1.0]).item() == 0.75
    assert tieaware.worst_case(RR, 2, depth=10).value == tieaware.worst_case("RR", 2, depth=10).value


@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        (RBP(p=0.5), "measure RBP(p=0.5): requires rel, as in RBP(rel=1); for gains, write 'RBP(gains=label)'"),
        (P, "measure P: ir_measures requires the parameter cutoff"),
        (OF_THE_CALLER, "measure: tieaware does not have the measure Length of ir_measures"),
    ],
)
def test_measures_with_another_definition_are_rejected(measure, problem):
    assert message_of(tieaware.parse_measure, measure) == problem
