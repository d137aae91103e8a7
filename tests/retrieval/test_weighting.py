"""Weightings: SMART notation, BM25 and impacts against the textbook's formulas and other libraries."""

import math
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import bm25s
import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from tieaware import InputError
from tieaware.retrieval import Exact, Index
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


@pytest.mark.parametrize("name", ["bm25", "bm25:k1=0.9", "bm25:k1=1e-07,b=0.123456789012", "bm25:b=0.0", "impact:8",
                                  "impact:3:lnc.ltc", "impact:16:bm25:k1=0.9,b=0.4", "Lpn.bnn"])  # fmt: skip
def test_parsing_a_name_gives_the_same_name(name):
    assert weighting_of(name).name == name


def test_a_collection_of_empty_documents_has_no_weights():
    index = Index.build([("d1", ""), ("d2", "")], analyzer=str.split)
    for name in ("lnc.ltc", "anc.Lpc", "bm25", "impact:8", "nsc.nsc"):
        assert len(weighting_of(name).of_postings(index.postings)) == 0
        assert Exact(weighting=name).search(index, {"q": "a"}).documents.to_list() == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("lnx.ltc", "'lnx.ltc'"), ("lnc.ltq", "'lnc.ltq'"), ("lnc", "'lnc'"), ("bm25:k3=1", "'bm25:k3=1'"),
        ("bm25:k1=-1", "'bm25:k1=-1'"), ("bm25:b=2", "2.0"), ("bm25:k1=1e9", "1000000000.0"), ("impact", "'impact'"),
        ("impact:0", "0"), ("impact:17", "17"), ("impact:8:impact:8", "'impact:8:impact:8'"),
        ("impact:x", "'impact:x'"), (8, "8"), (None, "None"), ("impact:8:lnx.ltc", "'lnx.ltc'"),
    ],
)  # fmt: skip
def test_unknown_names_are_refused_in_one_line(name, found):
    with pytest.raises(InputError, match=r"^weighting(: k1|: b|: bits)?: expected .*, found " + found + "$") as refused:
        Exact(weighting=name)
    assert "\n" not in str(refused.value)


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
