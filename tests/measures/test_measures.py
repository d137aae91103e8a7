"""The notation of measures: parsing and formatting are inverses, and each error is one line."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.errors import message_of

import tieaware
from tieaware import AP, AUC, RBP, F, IPrec, Measure, P, Q, nDCG, parse_measure
from tieaware.measures import DEFINITIONS
from tieaware.measures.definition import FAMILIES
from tieaware.measures.parameters import Gains, Number, Threshold, WholeNumber, Word
from tieaware.ties import RULES

VALUES = {
    "rel": st.integers(0, 2**31) | st.floats(0.0, 2.0**31),
    "gains": st.dictionaries(st.integers(0, 9) | st.floats(0.0, 9.0), st.floats(0.0, 1e3), min_size=1, max_size=5).map(
        lambda gains: dict(zip(sorted(gains), sorted(gains.values()), strict=True))
    ),
    "discount": st.sampled_from(["log2", "log", "1/rank"]),
    "base": st.floats(1.0, 1e9, exclude_min=True, exclude_max=True),
    "p": st.floats(0.0, 1.0, exclude_min=True, exclude_max=True),
    "dcg": st.sampled_from(["log2", "exp-log2"]),
    "judged_only": st.booleans(),
    "relative": st.booleans(),
    "pool": st.booleans(),
    "normalize": st.booleans(),
    "alpha": st.floats(0.0, 1.0),
    "beta": st.floats(0.0, 1e8, exclude_min=True),
    "docs": st.integers(0, 10**15),
    "i": st.integers(1, 2**31),
    "max_rel": st.integers(1, 50),
    "min_rel": st.integers(0, 10),
    "T": st.floats(0.5, 1e8),
    "recall": st.floats(0.0, 1.0),
}


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    definition = DEFINITIONS[draw(st.sampled_from(sorted(DEFINITIONS)))]
    names = sorted(set(definition.parameters) - {"recall"})
    chosen = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    values = {**VALUES, "beta": VALUES["p"]} if definition.needs_subtopics else VALUES
    measure = Measure(definition, **{name: draw(values[name]) for name in chosen})
    if definition.at_recall:
        return measure @ draw(VALUES["recall"])
    cutoff = draw(st.none() | st.integers(1, 10**15)) if definition.has_cutoff else None
    return measure if cutoff is None else measure @ cutoff


@given(measures())
def test_parsing_and_formatting_a_measure_are_inverses(measure):
    text = str(measure)
    assert parse_measure(text) == measure
    assert eval(text, dict(FAMILIES)) == measure
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert hash(measure) == hash(eval(text, dict(FAMILIES)))


def test_equal_measures_are_written_alike():
    """A parameter has one notation: NumPy's numbers are written as Python's, and 1 as 1.0 if fractions are allowed."""
    assert str(AP(rel=np.int64(2)) @ np.int32(5)) == "AP(rel=2)@5"
    assert str(RBP(p=np.float64(0.85))) == "RBP(p=0.85)"
    assert str(P(judged_only=np.bool_(True))) == "P(judged_only=True)"
    assert Q(beta=2) == Q(beta=2.0)
    assert str(F(beta=1)) == "F"
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
        ("nDGC@10", "measure: unknown measure 'nDGC@10'; did you mean nDCG"),
        ("AP@0", "cut-off of measure 'AP@0': expected a whole number of at least 1, found '0'"),
        ("AP@-3", "expected a whole number of at least 1, found '-3'"),
        (f"AP@{2**62}", "cut-off of AP: expected a whole number from 1 to 2^62 - 1, found 4611686018427387904"),
        ("AP@ten", "expected a whole number of at least 1, found 'ten'"),
        ("Bpref@10", "Bpref: has no cut-off, so @10 has no meaning"),
        ("AP(rel)", "measure 'AP(rel)': 'rel' is not of the form parameter=value"),
        ("AP(rel=1,rel=2)", "measure 'AP(rel=1,rel=2)': parameter 'rel' is given twice"),
        ("AP(rel=-0.5)", "rel of AP: expected a number from 0 to 2,147,483,648, found -0.5"),
        ("AP(rel=True)", "rel of AP: expected a number from 0 to 2,147,483,648, found True"),
        ("nDCG(gains={1: 2, 2: 1})", "gains of nDCG: must not fall: label 2 has a smaller gain than label 1"),
        ("nDCG(gains={1: -2})", "gains of nDCG: expected a number from 0 to 4.5036e+15, found -2"),
        ("nDCG(gains={})", "gains of nDCG: expected a dict of gains by label, such as {0: 0, 1: 1, 2: 3.5}, found {}"),
        ("RBP(gains=3)", "such as {0: 0, 1: 1, 2: 3.5} or 'label', found 3"),
        ("RBP(gains=label,rel=2)", "rel: must not be given together with gains"),
        ("nDCG(gains={1: 2},dcg='exp-log2')", "dcg: must not be given together with gains"),
        ("nDCG(base=3)", "base of nDCG: is the base of discount='log'; give both, or neither"),
        ("AP(relevance=2)", "AP: unknown parameter 'relevance'; its parameters are rel, judged_only"),
        ("RBP(p=1)", "p of RBP: expected a number between 0 and 1, found 1"),
        ("RBP(p=high)", "p of RBP: expected a number between 0 and 1, found 'high'"),
        ("Q(beta=0)", "beta of Q: expected a number between 0 and 1e+09, found 0"),
        ("ERR(max_rel=0)", "max_rel of ERR: expected a whole number from 1 to 50, found 0"),
        ("ESL(i=0)", "i of ESL: expected a whole number from 1 to 2,147,483,648, found 0"),
        ("nDCG(dcg=log)", "dcg of nDCG: expected one of log2, exp-log2, found 'log'"),
        ("P(judged_only=1)", "judged_only of P: expected True or False, found 1"),
        ("IPrec@1.5", "recall of IPrec: expected a number from 0 to 1, found 1.5"),
        ("AP AP", "measure: 'AP AP' names 2 measures"),
        ("", "measure: the name is empty"),
        ("SDCG(max_rel=3)", "SDCG(max_rel=3): labels: expected at most max_rel=3, found 4"),
        ("INSQ(min_rel=4)", "INSQ(min_rel=4): min_rel: must be below max_rel; they are 4 and 4"),
        ("SDCG@1000001", "cut-off of SDCG@1000001: must be at most 1,000,000"),
        ("NERR8@1000001", "cut-off of NERR8@1000001: must be at most 1,000,000"),
        ("NERR11@1000001", "cut-off of NERR11@1000001: must be at most 1,000,000"),
        ("SDCG(dcg='exp-log2',max_rel=60)", "SDCG(dcg='exp-log2',max_rel=60): max_rel: expected at most 52"),
        ("SDCG(gains={1: 1, 4: 2},max_rel=5)", "SDCG(gains={1: 1, 4: 2},max_rel=5): gains: must not be given together"),
        ("INSQ(T=0)", "T of INSQ: expected a number from 1e-09 to 1e+09, found 0"),
        ("nERR", "nERR: labels: expected at most max_rel=4, found 5"),
        ("A" * 3000, "the name 'AAAAAAAAAAAAAAAAAAAA'… is too long: it has 3000 characters"),
    ],
)
def test_an_error_is_one_line(text, message):
    assert message in message_of(
        tieaware.Evaluator, [4 if "max_rel" in text else 1, 0], [text], judgments=([4, 1, 0, 5], [0, 4])
    )


def test_every_measure_is_exported():
    for name in DEFINITIONS:
        assert str(getattr(tieaware, name)) == (name if name != "IPrec" else "IPrec@0.0")
        assert name in tieaware.__all__


def other(parameter):
    """Return a value of the parameter that is not the default."""
    if isinstance(parameter, Number):
        return (parameter.default + parameter.most) / 2
    if isinstance(parameter, Gains):
        return {0: 0, 1: 0.25, 2: 0.25, 3: 7, 4: 9}
    if isinstance(parameter, Threshold):
        return parameter.default + 1
    if isinstance(parameter, WholeNumber):
        # A collection has at least as many documents as a list.
        return parameter.default + (1 if parameter.most < 10**15 else 100)
    choices = parameter.choices if isinstance(parameter, Word) else (False, True)
    return next(choice for choice in choices if choice != parameter.default)


PARAMETERS = [(family, name) for family, definition in DEFINITIONS.items() for name in definition.parameters]


@pytest.mark.parametrize(("family", "name"), PARAMETERS)
def test_measures_with_different_parameters_do_not_affect_each_other(family, name):
    """In one call, in either order, two measures have the same values as each alone, under every tie rule."""
    definition = DEFINITIONS[family]
    cutoff = 3 if definition.has_cutoff else None
    default = Measure(definition, cutoff)
    settings = {name: other(definition.parameters[name])}
    if name == "base":
        settings["discount"] = "log"
    changed = Measure(definition, cutoff, **settings)
    depends = name in definition.weighting.parameters
    assert (definition.weighting.key(default) != definition.weighting.key(changed)) == depends
    rng = np.random.default_rng(11)
    subtopics = (3,) if definition.needs_subtopics else ()
    labels, scores = rng.integers(-2, 5, (20, 12, *subtopics)), rng.integers(0, 4, (20, 12))
    labels[rng.random((20, 12)) < 0.1] = -1
    judged = np.hstack([labels, rng.integers(0, 5, (20, 3, *subtopics))])
    options = {
        "judgments": (judged.reshape(300, *subtopics), np.arange(21) * 15), "docids": [f"d{i}" for i in range(240)],
        "subtopics": definition.needs_subtopics,
    }  # fmt: skip
    for ties in RULES:

        def values(*measures, ties=ties):
            return tieaware.Evaluator(labels, measures, ties=ties, **options)(scores)

        alone = np.hstack([values(default), values(changed)])
        np.testing.assert_array_equal(values(default, changed), alone)
        np.testing.assert_array_equal(values(changed, default), alone[:, ::-1])
        # The parameter of PPlus only says how many labels there are.
        differ = depends or definition.needs_subtopics
        assert not differ or (family, name) == ("PPlus", "max_rel") or (alone[:, 0] != alone[:, 1]).any()


def test_a_weighting_takes_only_the_parameters_that_it_declares():
    """Weights are cached by the declared parameters, so a function must not depend on any other parameter."""
    for definition in DEFINITIONS.values():
        weighting = definition.weighting
        assert set(weighting.parameters) <= set(definition.parameters)
        assert list(inspect.signature(weighting.rows).parameters) == ["labels", *weighting.parameters]
