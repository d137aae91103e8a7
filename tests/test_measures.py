"""The notation of measures: what is written is read back, and what has no meaning is refused in one line."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tieaware
from tieaware import AP, AUC, RBP, InputError, IPrec, Measure, P, Q, SetF, nDCG, parse_measure
from tieaware.measures import DEFINITIONS

VALUES = {
    "rel": st.integers(0, 2**31),
    "p": st.floats(0.0, 1.0, exclude_min=True, exclude_max=True),
    "dcg": st.sampled_from(["log2", "exp-log2"]),
    "judged_only": st.booleans(),
    "relative": st.booleans(),
    "beta": st.floats(0.0, 1e8, exclude_min=True),
    "i": st.integers(1, 2**31),
    "max_rel": st.integers(1, 50),
    "recall": st.floats(0.0, 1.0),
}


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    definition = DEFINITIONS[draw(st.sampled_from(sorted(DEFINITIONS)))]
    names = sorted(set(definition.parameters) - {"recall"})
    chosen = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    measure = Measure(definition, **{name: draw(VALUES[name]) for name in chosen})
    if definition.at_recall:
        return measure @ draw(VALUES["recall"])
    cutoff = draw(st.none() | st.integers(1, 10**15)) if definition.has_cutoff else None
    return measure if cutoff is None else measure @ cutoff


@given(measures())
def test_what_is_written_is_read_back(measure):
    text = str(measure)
    assert parse_measure(text) == measure
    assert eval(text, vars(tieaware)) == measure
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert hash(measure) == hash(eval(text, vars(tieaware)))


@pytest.mark.parametrize(
    ("trec_name", "measure"),
    [
        ("map", "AP"), ("gm_map", "GMAP"), ("recip_rank", "RR"), ("ndcg", "nDCG"), ("ndcg_cut_10", "nDCG@10"),
        ("P_5", "P@5"), ("recall_1000", "R@1000"), ("map_cut_100", "AP@100"), ("success_1", "Success@1"),
        ("Rprec", "Rprec"), ("bpref", "Bpref"), ("infAP", "infAP"), ("11pt_avg", "IAP11"), ("set_P", "SetP"),
        ("iprec_at_recall_0.10", "IPrec@0.1"), ("iprec_at_recall_1.00", "IPrec@1.0"), ("set_recall", "SetR"),
        ("set_F", "SetF"), ("set_map", "SetAP"), ("set_relative_P", "SetP(relative=True)"), ("num_ret", "NumRet"),
        ("num_rel", "NumRel"), ("num_rel_ret", "NumRelRet"), ("num_q", "NumQ"),
        # What ir_measures and others call them.
        ("MRR@10", "RR@10"), ("NDCG@5", "nDCG@5"), ("Accuracy@20", "AUC@20"), ("BPref", "Bpref"), ("RPrec", "Rprec"),
        ("Precision@3", "P@3"), ("Recall", "R"), ("MAP(rel=2)", "AP(rel=2)"), ("InfAP", "infAP"), ("IAP", "IAP11"),
        (" nDCG ( dcg = exp-log2 , judged_only = True ) @ 10 ", "nDCG(dcg='exp-log2',judged_only=True)@10"),
    ],
)  # fmt: skip
def test_other_names(trec_name, measure):
    assert str(parse_measure(trec_name)) == measure


def test_equal_measures_are_written_alike():
    """NumPy's numbers, and whole numbers for fractions, are the plain ones."""
    assert str(AP(rel=np.int64(2)) @ np.int32(5)) == "AP(rel=2)@5"
    assert str(RBP(p=np.float64(0.85))) == "RBP(p=0.85)"
    assert str(P(judged_only=np.bool_(True))) == "P(judged_only=True)"
    assert Q(beta=2) == Q(beta=2.0)
    assert str(SetF(beta=1)) == "SetF"
    assert IPrec @ 0 == IPrec @ 0.0


def test_a_measure_is_immutable():
    with pytest.raises(AttributeError, match="immutable"):
        AP.cutoff = 3
    with pytest.raises(TypeError):
        nDCG.parameters["dcg"] = "exp-log2"
    assert (AP(rel=2) @ 5)(rel=3) == AP(rel=3) @ 5
    assert AUC != AP


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC@10", "did you mean nDCG"),
        ("AP@0", "AP@0: expected a cut-off of at least 1"),
        ("AP@-3", "expected a cut-off"),
        ("AP@ten", "cut-off 'ten', expected a whole number"),
        ("Bpref@10", "Bpref has no cut-off"),
        ("AP(rel)", "found 'rel', expected parameter=value"),
        ("AP(rel=1,rel=2)", "parameter 'rel' is given twice"),
        ("AP(rel=1.5)", "rel=1.5, expected a whole number"),
        ("AP(rel=True)", "rel=True, expected a whole number"),
        ("AP(relevance=2)", "unknown parameter 'relevance'; its parameters are: rel, judged_only"),
        ("RBP(p=1)", "p=1, expected a number between 0 and 1"),
        ("RBP(p=high)", "p='high', expected a number"),
        ("Q(beta=0)", "beta=0, expected a number above 0"),
        ("ERR(max_rel=0)", "max_rel=0, expected a whole number from 1 to 50"),
        ("ESL(i=0)", "i=0, expected a whole number"),
        ("nDCG(dcg=log)", "dcg='log', expected 'log2' or 'exp-log2'"),
        ("P(judged_only=1)", "judged_only=1, expected True or False"),
        ("IPrec@1.5", "recall 1.5, expected a number from 0 to 1"),
        ("AP AP", "expected the form name"),
        ("", "expected the form name"),
        ("A" * 1000, "1000 characters"),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_line(text, message):
    with pytest.raises(InputError) as error:
        tieaware.Evaluator([1, 0], [text])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_measure_is_a_name_or_a_measure():
    with pytest.raises(InputError, match="measure 3: expected a name"):
        parse_measure(3)
    with pytest.raises(InputError, match="found none"):
        tieaware.Evaluator([1, 0], [])


def test_every_measure_is_exported():
    for name in DEFINITIONS:
        assert str(getattr(tieaware, name)) == (name if name != "IPrec" else "IPrec@0.0")
        assert name in tieaware.__all__
