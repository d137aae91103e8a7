"""Language models, pivoted normalisation and InL2 against the formulas, worked examples and gensim's values."""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import (
    WAND,
    AtLeast,
    BandSafe,
    BlindFeedback,
    BlockMaxWAND,
    Champions,
    ClusterPruning,
    Exact,
    GlobalChampions,
    HighIdf,
    HighLow,
    ImpactOrdered,
    Index,
    MaxScore,
    NetScore,
    Proximity,
    Tiers,
)
from tieaware.retrieval.index import QueryTerms
from tieaware.retrieval.method import term_weights
from tieaware.retrieval.weighting import weighting_of

# The worked example of Introduction to Information Retrieval, section 12.2.2.
BOOK = [
    ("d1", "Xyzzy reports a profit but revenue is down"),
    ("d2", "Quorus narrows quarter loss but revenue decreases further"),
]


def matrix(index: Index, weighting: str) -> np.ndarray:
    """Return the weights as a dense matrix of documents × terms."""
    dense = np.zeros((len(index), len(index.terms)))
    weights = weighting_of(weighting).of_postings(index.postings)
    for t, (a, b) in enumerate(pairwise(index.postings.starts)):
        dense[index.postings.documents[a:b], t] = weights[a:b]
    return dense


def likelihood(query: list[str], text: list[str], texts: list[list[str]], kind: str, parameter: Fraction) -> Fraction:
    """Return P(query | document) exactly; terms that no document contains are left out."""
    everything = [word for each in texts for word in each]
    probability = Fraction(1)
    for word in query:
        tf, share = text.count(word), Fraction(everything.count(word), len(everything))
        if not share:
            continue
        if kind == "lm-dirichlet":
            probability *= (tf + parameter * share) / (len(text) + parameter)
        else:
            probability *= (1 - parameter) * Fraction(tf, max(len(text), 1)) + parameter * share
    return probability


def collection_likelihood(query: list[str], texts: list[list[str]]) -> Fraction:
    everything = [word for each in texts for word in each]
    shares = [Fraction(everything.count(word), len(everything)) for word in query if word in everything]
    return math.prod(shares, start=Fraction(1))


def log(x: Fraction) -> float:
    with mpmath.workdps(50):
        return float(mpmath.log(mpmath.mpf(x.numerator) / x.denominator))


def test_jelinek_mercer_gives_the_probabilities_of_the_book():
    """The book computes 3/256 and 1/256 for "revenue down", with λ = 1/2."""
    index = Index.build(BOOK, analyzer=str.split)
    run = Exact(weighting="lm-jm:0.5").search(index, {"q": "revenue down"})
    constant = Fraction(1, 2) ** 2 * Fraction(2, 16) * Fraction(1, 16)
    assert run.documents.to_list() == ["d1", "d2"]
    assert (np.exp(run.scores) * float(constant)).tolist() == pytest.approx([3 / 256, 1 / 256], rel=1e-6)


@given(searches())
@settings(max_examples=100, deadline=None)
def test_scores_are_logarithms_of_likelihoods(search: Search):
    """Documents have all lengths, only some terms of the query, and repeated terms; the values have 50 digits."""
    for kind, parameter in (("lm-dirichlet", "2000"), ("lm-dirichlet", "1.5"), ("lm-jm", "0.1"), ("lm-jm", "0.75")):
        run = Exact(weighting=f"{kind}:{parameter}").search(search.index, {"q": search.words}, k=100)
        smoothing = Fraction(parameter)
        constant = collection_likelihood(search.words, search.texts)
        known = [word for word in search.words if any(word in text for text in search.texts)]
        if kind == "lm-jm":
            constant *= smoothing ** len(known)
        numbers = [int(name[1:]) for name in run.documents.to_list()]
        assert sorted(numbers) == [d for d, text in enumerate(search.texts) if set(text) & set(known)]
        for d, score in zip(numbers, run.scores, strict=True):
            expected = log(likelihood(search.words, search.texts[d], search.texts, kind, smoothing) / constant)
            assert score == pytest.approx(expected, rel=3e-6, abs=3e-6)


def test_length_counts_for_terms_that_a_document_lacks():
    """A long document with one of two terms scores below 0, and is found."""
    texts = ["a b", "a c c c c c c c c c c c", "c"]
    index = Index.build(enumerate(texts), analyzer=str.split)
    run = Exact(weighting="lm-dirichlet:2").search(index, {"q": "a b"})
    assert run.documents.to_list() == [0, 1]
    # P(a | C) = 2/15 and P(b | C) = 1/15; the documents have 2 and 12 tokens.
    expected = [
        math.log((1 + 4 / 15) / 4 * (1 + 2 / 15) / 4 / (2 / 225)),
        math.log((1 + 4 / 15) / 14 * (2 / 15) / 14 / (2 / 225)),
    ]
    assert run.scores.tolist() == pytest.approx(expected, rel=1e-6)
    assert run.scores[1] < 0


@given(searches())
@settings(max_examples=100, deadline=None)
def test_methods_equal_exact_search_with_dirichlet_smoothing(search: Search):
    weighting = "lm-dirichlet:3"
    exact = search.found(Exact(weighting=weighting))
    n = len(search.index)
    for method in (
        Exact(heap="all", weighting=weighting), MaxScore(weighting=weighting), WAND(weighting=weighting),
        BlockMaxWAND(weighting=weighting), AtLeast(weighting=weighting), HighIdf(weighting=weighting),
        Champions(r=n, weighting=weighting), Proximity(alpha=0, weighting=weighting),
        BlindFeedback(beta=0, weighting=weighting),
    ):  # fmt: skip
        assert search.found(method) == exact, method


def test_quality_and_document_parts_add_up():
    index = Index.build([("d1", "a b b"), ("d2", "a"), ("d3", "b")], analyzer=str.split, quality=[0.5, 0.25, 1])
    scores = dict(zip("12", Exact(weighting="lm-dirichlet:3").search(index, {"q": "a"}).scores[::-1], strict=True))
    for method in (GlobalChampions, HighLow):
        run = method(weighting="lm-dirichlet:3").search(index, {"q": "a"}, k=2)
        found = dict(zip(run.documents.to_list(), run.scores.tolist(), strict=True))
        assert found == {"d1": pytest.approx(scores["1"] + 0.5), "d2": pytest.approx(scores["2"] + 0.25)}


def test_champions_are_the_best_documents_for_a_single_term():
    index = Index.build([("long", "a a b b b b b b b b"), ("short", "a")], analyzer=str.split)
    for weighting, best in (("lm-dirichlet:1", "short"), ("nnn.nnn", "long")):
        assert Champions(r=1, weighting=weighting).search(index, {"q": "a"}).documents.to_list() == [best]


@pytest.mark.parametrize("method", [BandSafe, ClusterPruning, ImpactOrdered, NetScore, Tiers])
def test_methods_without_document_parts_refuse_them(method):
    message = f"^weighting: {method.__name__} cannot use lm-dirichlet, whose scores have a part for each document$"
    with pytest.raises(InputError, match=message):
        method(weighting="lm-dirichlet")
    method(weighting="lm-jm")


def test_impacts_have_no_document_parts():
    with pytest.raises(InputError, match=r"^weighting: lm-dirichlet has no impacts: a part of its scores belongs"):
        Exact(weighting="impact:8:lm-dirichlet")
    assert weighting_of("impact:8:lm-jm:0.2").name == "impact:8:lm-jm:0.2"


def test_pivoted_weights_equal_those_of_gensim():
    """Gensim 4.4 computed these values: TfidfModel(dictionary=…, smartirs=…, slope=0.25)."""
    texts = ["a a bb c", "bb bb bb a", "c a", "ddd ddd a bb c"]
    index = Index.build(enumerate(texts), analyzer=str.split)
    assert index.terms == ["a", "bb", "c", "ddd"]
    expected = {
        "anu": [[0.35555555555555557, 0.26666666666666666, 0.26666666666666666, 0],
                [0.26016260162601623, 0.3902439024390244, 0, 0], [0.3902439024390244, 0, 0.3902439024390244, 0],
                [0.24489795918367346, 0.24489795918367346, 0.24489795918367346, 0.32653061224489793]],
        "nnu": [[0.7111111111111111, 0.35555555555555557, 0.35555555555555557, 0],
                [0.3902439024390244, 1.170731707317073, 0, 0], [0.3902439024390244, 0, 0.3902439024390244, 0],
                [0.32653061224489793, 0.32653061224489793, 0.32653061224489793, 0.6530612244897959]],
        "nnb": [[0.20915032679738563, 0.10457516339869281, 0.10457516339869281, 0],
                [0.09937888198757763, 0.2981366459627329, 0, 0], [0.12030075187969924, 0, 0.12030075187969924, 0],
                [0.0903954802259887, 0.0903954802259887, 0.0903954802259887, 0.1807909604519774]],
        "bnb": [[0.10457516339869281, 0.10457516339869281, 0.10457516339869281, 0],
                [0.09937888198757763, 0.09937888198757763, 0, 0], [0.12030075187969924, 0, 0.12030075187969924, 0],
                [0.0903954802259887, 0.0903954802259887, 0.0903954802259887, 0.0903954802259887]],
    }  # fmt: skip
    for letters, rows in expected.items():
        np.testing.assert_allclose(matrix(index, f"{letters}.nnn:slope=0.25"), rows, rtol=1e-6)
        # The weights of a query are those of a document with the same words.
        for text, row in zip(texts, rows, strict=True):
            weights = term_weights(index, f"nnn.{letters}:slope=0.25", QueryTerms.of([index.query(text)]))
            assert weights.tolist() == pytest.approx([weight for weight in row if weight], rel=1e-12)


def test_slope_and_pivot():
    index = Index.build([("d1", "a b"), ("d2", "a b c d é")], analyzer=str.split)
    found = matrix(index, "nnu.nnu:slope=0.5,pivot=3")[:, 0]
    np.testing.assert_allclose(found, [1 / (1.5 + 1), 1 / (1.5 + 2.5)], rtol=1e-6)
    # In UTF-8, é has two bytes.
    assert matrix(index, "nnb.nnn:slope=1")[:, 0].tolist() == pytest.approx([1 / 4, 1 / 11], rel=1e-6)
    # With slope 0 all documents have the same norm, the pivot.
    assert matrix(index, "nnu.nnn:slope=0")[:, 0].tolist() == pytest.approx([1 / 3.5] * 2, rel=1e-6)


def test_inl2_equals_its_formula():
    texts = ["a a b c", "b b b a", "c", "", "a b c d d d"]
    index = Index.build(enumerate(texts), analyzer=str.split)
    mean = sum(len(text.split()) for text in texts) / 5
    for name, c in (("inl2", 1), ("inl2:c=0.3", 0.3), ("inl2:7", 7)):
        for text, row in zip(texts, matrix(index, name), strict=True):
            for term, tf in Counter(text.split()).items():
                df = sum(term in other.split() for other in texts)
                f = tf * math.log2(1 + c * mean / len(text.split()))
                expected = f / (f + 1) * math.log2((5 + 1) / (df + 0.5))
                assert row[index.terms.index(term)] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["lm-dirichlet", "lm-dirichlet:1500.0", "lm-jm", "lm-jm:0.7", "inl2", "inl2:c=2.0",
                                  "Lnu.ltu", "Lnu.ltu:slope=0.25,pivot=80.0", "lnb.ltc:slope=0.3"])  # fmt: skip
def test_parsing_a_name_gives_the_same_name(name):
    assert weighting_of(name).name == name


def test_names_may_name_their_parameter():
    assert weighting_of("lm-dirichlet:mu=100").name == "lm-dirichlet:100.0"
    assert weighting_of("lm-jm:lambda=0.5").name == "lm-jm:0.5"
    assert weighting_of("lm-dirichlet:2000").name == "lm-dirichlet"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lm-dirichlet:0", "weighting: mu: expected a number from 1e-06 to 1e\\+12, found 0.0"),
        ("lm-dirichlet:x", "weighting: expected .*, found 'lm-dirichlet:x'"),
        ("lm-dirichlet:lambda=1", "weighting: expected .*, found 'lm-dirichlet:lambda=1'"),
        ("lm-jm:1", "weighting: lambda: expected a number from 1e-06 to 0.999999, found 1.0"),
        ("lm-jm:0", "weighting: lambda: expected a number from 1e-06 to 0.999999, found 0.0"),
        ("lm", "weighting: expected .*, found 'lm'"),
        ("inl2:c=0", "weighting: c: expected a number from 1e-06 to 1e\\+06, found 0.0"),
        ("Lnu.ltu:slope=2", "weighting: slope: expected a number from 0 to 1, found 2.0"),
        ("Lnu.ltu:pivot=0", "weighting: pivot: expected a number from 1e-06 to 1e\\+12, found 0.0"),
        ("lnc.ltc:slope=0.5", "weighting: expected .*, found 'lnc.ltc:slope=0.5'"),
        ("Lnu.ltu:0.5", "weighting: expected .*, found 'Lnu.ltu:0.5'"),
    ],
)
def test_unusable_parameters_are_refused_in_one_line(name, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Exact(weighting=name)


def test_a_collection_of_empty_documents_has_no_weights():
    index = Index.build([("d1", ""), ("d2", "")], analyzer=str.split)
    for name in ("lm-dirichlet", "lm-jm", "inl2", "Lnu.ltu", "Lnb.ltb"):
        assert len(weighting_of(name).of_postings(index.postings)) == 0
        assert Exact(weighting=name).search(index, {"q": "a"}).documents.to_list() == []
