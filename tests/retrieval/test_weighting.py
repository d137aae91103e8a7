"""Weightings: SMART notation, BM25, impacts, language models and InL2 against formulas and other libraries."""

import math
import tracemalloc
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import bm25s
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from searches import Search, searches
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from tieaware import InputError
from tieaware.retrieval import (
    BandSafe,
    Champions,
    ClusterPruning,
    Exact,
    GlobalChampions,
    HighLow,
    ImpactOrdered,
    Index,
    NetScore,
    Tiers,
)
from tieaware.retrieval.index import Query, QueryTerms
from tieaware.retrieval.method import term_weights
from tieaware.retrieval.weighting import weighting_of

TEXTS = ["a a b c", "b b b a", "c", "", "a b c d d d", "d a", "e e e e e e e e e e e e a"]
QUERY = "a b b d unknown"


@pytest.fixture(scope="module")
def index():
    return Index.build(enumerate(TEXTS), analyzer=str.split)


def matrix(index, weighting):
    """Return the weights as a dense matrix of documents × terms."""
    dense = np.zeros((len(index), len(index.terms)))
    weights = weighting_of(weighting).of_postings(index.postings)
    for t, (a, b) in enumerate(pairwise(index.postings.starts)):
        dense[index.postings.documents[a:b], t] = weights[a:b]
    return dense


@pytest.mark.parametrize("weighting", ["ltc.ltc", "Lnn.nnn", "ann.nnn"])
def test_postings_that_change_in_place_cost_no_memory(weighting):
    """The memory depends on the number of documents, not on the largest number in the postings."""
    index = Index.build(enumerate(TEXTS), analyzer=str.split)
    documents = index.postings.documents.copy()
    documents[0] = 2**31 - 1
    changed = replace(index.postings, documents=documents)
    tracemalloc.start()
    try:
        weighting_of(weighting).of_postings(changed)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def query_weights(index, weighting):
    query = index.query(QUERY)
    weights = term_weights(index, weighting, QueryTerms.of([query]))
    return dict(zip(query.terms.tolist(), weights.tolist(), strict=True))


def smart(letters, counts, index):
    """Compute the weights of a text in SMART notation, from its term counts."""
    df = {t: sum(t in text.split() for text in TEXTS) for t in index.terms}
    n, log, tf = len(TEXTS), math.log10, dict(counts)
    mean = sum(tf.values()) / len(tf) if tf else 1
    frequency = {
        "n": lambda f: f, "l": lambda f: 1 + log(f), "a": lambda f: 0.5 + 0.5 * f / max(tf.values()), "b": lambda f: 1,
        "L": lambda f: (1 + log(f)) / (1 + log(mean)), "d": lambda f: 1 + log(1 + log(f)),
    }[letters[0]]  # fmt: skip
    idf = {
        "n": lambda t: 1, "t": lambda t: log(n / df[t]), "p": lambda t: max(0, log((n - df[t]) / df[t])),
        "s": lambda t: math.log((1 + n) / (1 + df[t])) + 1,
    }[letters[1]]  # fmt: skip
    weights = {t: frequency(f) * idf(t) for t, f in tf.items()}
    norm = math.sqrt(math.fsum(w * w for w in weights.values())) if letters[2] == "c" else 1
    return {t: w / (norm or 1) for t, w in weights.items()}


@pytest.mark.parametrize("letters", [tf + idf + norm for tf in "nlabLd" for idf in "ntps" for norm in "nc"])
def test_smart_weights_equal_the_textbook_formulas(index, letters):
    found = matrix(index, f"{letters}.nnn")
    for row, text in zip(found, TEXTS, strict=True):
        expected = smart(letters, Counter(text.split()), index)
        np.testing.assert_allclose(row, [expected.get(t, 0) for t in index.terms], rtol=1e-6)
    counts = Counter(t for t in QUERY.split() if t in index.terms)
    expected = smart(letters, counts, index)
    found = query_weights(index, f"nnn.{letters}")
    assert {index.terms[t]: w for t, w in found.items()} == pytest.approx(expected, rel=1e-12)


def test_tf_idf_equals_scikit_learn(index):
    words = {"tokenizer": str.split, "token_pattern": None, "vocabulary": index.terms}
    vectorizer = TfidfVectorizer(**words)
    documents, query = vectorizer.fit_transform(TEXTS), vectorizer.transform([QUERY])
    np.testing.assert_allclose(matrix(index, "nsc.nsc"), documents.toarray(), rtol=1e-6)
    expected = (documents @ query.T).toarray().ravel()
    run = Exact(weighting="nsc.nsc").search(index, {"q": QUERY})
    np.testing.assert_allclose(run.scores, expected[run.documents.to_list()], rtol=1e-6)
    # Subtract the 1 that scikit-learn adds to each idf. scikit-learn uses natural logarithms, but the base does not
    # change a cosine.
    counts = np.array([[text.split().count(t) for t in index.terms] for text in TEXTS])
    plain = TfidfTransformer(smooth_idf=False).fit(counts)
    plain.idf_ = plain.idf_ - 1
    np.testing.assert_allclose(matrix(index, "ntc.ntc"), plain.transform(counts).toarray(), rtol=1e-6)
    np.testing.assert_allclose(
        matrix(index, "nnc.nnc"), TfidfTransformer(use_idf=False).fit_transform(counts).toarray(), rtol=1e-6
    )


def test_bm25_equals_bm25s():
    rng = np.random.default_rng(3)
    texts = [rng.integers(0, 30, rng.integers(1, 20)).tolist() for _ in range(200)]
    index = Index.from_tokens(texts, [str(i) for i in range(30)])
    peer = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    peer.index((texts, {str(i): i for i in range(30)}), show_progress=False)
    for seed in range(20):
        query = np.random.default_rng(seed).integers(0, 30, 4)
        run = Exact(weighting="bm25:k1=0.9,b=0.4").search(index, {"q": [str(t) for t in query]})
        expected = peer.get_scores_from_ids(query.tolist())
        assert len(run.scores) == (expected > 0).sum()
        np.testing.assert_allclose(run.scores, expected[run.documents.to_list()], rtol=1e-6)


@pytest.mark.parametrize("bits", [1, 2, 8, 9, 16])
@pytest.mark.parametrize("of", ["bm25", "lnc.ltc"])
def test_impacts_equal_the_linear_quantizer_of_pisa(index, bits, of):
    weighting = weighting_of(f"impact:{bits}:{of}")
    weights = weighting_of(of).of_postings(index.postings)
    if of == "lnc.ltc":
        df = np.diff(index.postings.starts)
        weights = (weights * np.repeat(np.log10(len(index) / df), df)).astype(np.float32)
    # PISA's source code multiplies by a scale in float32, applies std::round, which rounds halves away from zero, and
    # adds 1.
    scale = np.float32((1 << bits) - 2) / weights.max()
    expected = [math.floor(float(np.float32(w * scale)) + 0.5) + 1 for w in weights]
    impacts = weighting.of_postings(index.postings)
    assert impacts.tolist() == expected
    assert impacts.dtype == (np.uint8 if bits <= 8 else np.uint16)
    assert impacts.max() == max(1, 2**bits - 1)
    # The terms of a query weigh as often as they occur, so scores are whole numbers.
    assert list(query_weights(index, f"impact:{bits}:{of}").values()) == [1.0, 2.0, 1.0]


NAMES = (
    "bm25", "bm25:k1=0.9", "bm25:k1=1e-07,b=0.123456789012", "bm25:b=0.0", "impact:8", "impact:3:lnc.ltc",
    "impact:16:bm25:k1=0.9,b=0.4", "impact:8:lm-jm:0.2", "Lpn.bnn", "lm-dirichlet", "lm-dirichlet:1500.0", "lm-jm",
    "lm-jm:0.7", "inl2", "inl2:c=2.0", "Lnu.ltu", "Lnu.ltu:slope=0.25,pivot=80.0", "lnb.ltc:slope=0.3",
)  # fmt: skip
OTHER_NAMES = {
    "lm-dirichlet:mu=100": "lm-dirichlet:100.0", "lm-jm:lambda=0.5": "lm-jm:0.5", "lm-dirichlet:2000": "lm-dirichlet",
}  # fmt: skip


@pytest.mark.parametrize(("written", "name"), [*((name, name) for name in NAMES), *OTHER_NAMES.items()])
def test_parsing_a_name_gives_the_same_name(written, name):
    assert weighting_of(written).name == name


def test_a_collection_of_empty_documents_has_no_weights():
    index = Index.build([("d1", ""), ("d2", "")], analyzer=str.split)
    for name in (
        "lnc.ltc", "anc.Lpc", "bm25", "impact:8", "nsc.nsc", "lm-dirichlet", "lm-jm", "inl2", "Lnu.ltu", "Lnb.ltb"
    ):  # fmt: skip
        assert len(weighting_of(name).of_postings(index.postings)) == 0
        assert Exact(weighting=name).search(index, {"q": "a"}).documents.to_list() == []


NOT_KNOWN = {
    "lnx.ltc": "'lnx.ltc'", "lnc.ltq": "'lnc.ltq'", "lnc": "'lnc'", "bm25:k3=1": "'bm25:k3=1'",
    "bm25:k1=-1": "'bm25:k1=-1'", "bm25:b=2": "2.0", "bm25:k1=1e9": "1000000000.0", "impact": "'impact'",
    "impact:0": "0", "impact:17": "17", "impact:8:impact:8": "'impact:8:impact:8'", "impact:x": "'impact:x'",
    8: "8", None: "None", "impact:8:lnx.ltc": "'lnx.ltc'",
}  # fmt: skip
UNKNOWN = "weighting(: k1|: b|: bits)?: expected .*, found"
DOCUMENT_PARTS = "cannot use lm-dirichlet, whose scores have a part for each document"


@pytest.mark.parametrize(
    ("name", "message", "method"),
    [
        *((name, f"{UNKNOWN} {found}", Exact) for name, found in NOT_KNOWN.items()),
        ("lm-dirichlet:0", "weighting: mu: expected a number from 1e-06 to 1e\\+12, found 0.0", Exact),
        ("lm-dirichlet:x", "weighting: expected .*, found 'lm-dirichlet:x'", Exact),
        ("lm-dirichlet:lambda=1", "weighting: expected .*, found 'lm-dirichlet:lambda=1'", Exact),
        ("lm-jm:1", "weighting: lambda: expected a number from 1e-06 to 0.999999, found 1.0", Exact),
        ("lm-jm:0", "weighting: lambda: expected a number from 1e-06 to 0.999999, found 0.0", Exact),
        ("lm", "weighting: expected .*, found 'lm'", Exact),
        ("inl2:c=0", "weighting: c: expected a number from 1e-06 to 1e\\+06, found 0.0", Exact),
        ("Lnu.ltu:slope=2", "weighting: slope: expected a number from 0 to 1, found 2.0", Exact),
        ("Lnu.ltu:pivot=0", "weighting: pivot: expected a number from 1e-06 to 1e\\+12, found 0.0", Exact),
        ("lnc.ltc:slope=0.5", "weighting: expected .*, found 'lnc.ltc:slope=0.5'", Exact),
        ("Lnu.ltu:0.5", "weighting: expected .*, found 'Lnu.ltu:0.5'", Exact),
        ("impact:8:lm-dirichlet", "weighting: lm-dirichlet has no impacts: a part of its scores belongs .*", Exact),
        *(
            ("lm-dirichlet", f"weighting: {method.__name__} {DOCUMENT_PARTS}", method)
            for method in (BandSafe, ClusterPruning, ImpactOrdered, NetScore, Tiers)
        ),
    ],
)  # fmt: skip
def test_unusable_weightings_are_refused_in_one_line(name, message, method):
    with pytest.raises(InputError, match=f"^{message}$"):
        method(weighting=name)
    method(weighting="lm-jm")


@pytest.mark.parametrize("weighting", ["nnn.nnc", "lnc.ltc", "nnn.asc", "nnn.Lpu:slope=0.25", "nnn.dtb", "bm25"])
def test_queries_are_weighted_together_with_the_same_bits(weighting):
    """Norms are summed one term after the other, however many terms a query has."""
    rng = np.random.default_rng(3)
    documents = [rng.zipf(1.5, 30) % 40 for _ in range(20)]
    index = Index.build([(f"d{i}", " ".join(map(str, each))) for i, each in enumerate(documents)], analyzer=str.split)
    sizes = (3, 0, 1, 7, 8, 9, len(index.terms), 0)
    queries = [
        Query(np.sort(rng.choice(len(index.terms), size, replace=False)), rng.integers(1, 5, size)) for size in sizes
    ]
    together = term_weights(index, weighting, QueryTerms.of(queries))
    alone = [term_weights(index, weighting, QueryTerms.of([query])) for query in queries]
    assert together.tobytes() == np.concatenate(alone).tobytes()
    if weighting == "nnn.nnc":
        tf = [query.frequencies.astype(np.float64) for query in queries if len(query.terms)]
        norms = [np.sqrt(np.cumsum(each * each)[-1]) for each in tf]
        assert together.tobytes() == np.concatenate([a / b for a, b in zip(tf, norms, strict=True)]).tobytes()
    else:
        assert len(together) == sum(sizes)


# The worked example of Introduction to Information Retrieval, section 12.2.2.
BOOK = [
    ("d1", "Xyzzy reports a profit but revenue is down"),
    ("d2", "Quorus narrows quarter loss but revenue decreases further"),
]


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
