"""Parts of methods that compose: champions of rare terms, lengths of lists by df, weights of quality and score."""

import math
from dataclasses import fields

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Collection
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import AtLeast, Champions, Exact, HighIdf, HighLow, Index, NetScore, parse_method
from tieaware.retrieval.method import known_methods


def high_idf(c: Collection, min_idf: float, share: float) -> Collection:
    """Return the collection with only those terms of the query that have a high idf."""
    idf = {t: math.log10(len(c.texts) / len(c.weights[t])) for t in c.query}
    highest = sorted(idf.values(), reverse=True)[: reference.rounded_up(share, len(idf))]
    kept = {t: w for t, w in c.query.items() if highest and idf[t] >= max(min_idf, highest[-1])}
    return Collection(c.weights, kept, c.texts, c.quality)


@given(searches(), st.sampled_from((0.0, 0.2, 1.0)), st.sampled_from((0.0, 0.5, 1.0)), st.sampled_from((1, 2, 5)))
@settings(max_examples=100, deadline=None)
def test_methods_among_terms_of_high_idf_equal_the_reference(search: Search, min_idf, share, r):
    rare = high_idf(search.collection(), min_idf, share)
    options = {"weighting": search.weighting, "min_idf": min_idf, "share": share}
    for method in (f"Champions(r={r})", Champions(r=r, weighting=search.weighting)):
        found = search.found(HighIdf(method=method, **options))
        assert found == search.expected(reference.champions(rare, search.k, r, 0, False))
    assert search.found(HighIdf(method="AtLeast(m=2)", **options)) == search.expected(reference.at_least(rare, 2, 0))
    assert search.found(HighIdf(method="Exact", **options)) == search.found(HighIdf(**options))
    assert search.found(HighIdf(method="WAND", **options)) == search.found(HighIdf(**options))


def test_name_of_a_composed_method_is_parsed():
    method = HighIdf(share=0.5, method="Champions(r=5)", weighting="bm25")
    assert str(method) == "HighIdf(min_idf=0.0, share=0.5, method='Champions(r=5)', weighting='bm25')"
    assert parse_method(str(method)) == method
    given_as_method = HighIdf(share=0.5, method=Champions(r=5))
    assert str(given_as_method) == "HighIdf(min_idf=0.0, share=0.5, method='Champions(r=5)')"
    assert isinstance(parse_method(str(given_as_method)), HighIdf)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("Champion", "method: unknown method 'Champion'; did you mean Champions or GlobalChampions\\?"),
        ("Champions(r=0)", "r of Champions\\(r=0\\): expected a whole number of at least 1, found 0"),
        (5, "method: expected a method or its name, found 5"),
        (AtLeast(weighting="bm25"), "method: must have the weighting of HighIdf, lnc.ltc; found bm25"),
    ],
)
def test_unusable_methods_are_refused(method, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        HighIdf(method=method)


def by_df(df):
    """Return longer lists for rarer terms."""
    return 4 / df


@given(searches())
@settings(max_examples=100, deadline=None)
def test_lists_have_the_lengths_that_a_function_gives(search: Search):
    c = search.collection()
    lists = [reference.best(c.weights[t], math.ceil(4 / len(c.weights[t]))) for t in c.query]
    expected = search.expected(reference.exact(c, sorted(set().union(*lists))))
    assert search.found(Champions(r=by_df, weighting=search.weighting)) == expected
    everything = Champions(r=lambda df: df, weighting=search.weighting)
    assert search.found(everything) == search.found(Exact(weighting=search.weighting))


def test_function_of_df_gives_the_name():
    assert str(Champions(r=by_df)) == "Champions(r=by_df)"
    index = Index.from_tokens([[0], [0], [0, 1]], ["often", "rare", "never"])
    given = []
    Champions(r=lambda df: given.append(df.tolist()) or df).search(index, {"q": ["often"]})
    # A term without documents counts as one with a single document, so that functions may divide by df.
    assert given == [[3, 1, 1]]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda df: 5, r"r: expected a function that returns a length for each of 1 terms, found int64 of shape \(\)"),
        (lambda df: ["x"], r"r: expected a function that returns a length for each of 1 terms, found <U1 of shape .*"),
        (lambda df: -df, "r: expected a function that returns lengths of at least 0, found -2"),
        (lambda df: df * np.nan, "r: expected a function that returns lengths of at least 0, found nan"),
    ],
)
def test_lengths_are_checked(function, message):
    index = Index.build([("d1", "a"), ("d2", "a")], analyzer=str.split)
    with pytest.raises(InputError, match=f"^{message}$"):
        Champions(r=function).search(index, {"q": "a"})


@given(searches(), st.sampled_from((0.0, 0.5, 1.0, 3.0)), st.sampled_from((0.0, 0.25, 1.0)))
@settings(max_examples=100, deadline=None)
def test_net_scores_have_weighted_parts(search: Search, quality_weight, score_weight):
    c = search.collection()
    weighted = Collection(
        c.weights, {t: score_weight * w for t, w in c.query.items()}, c.texts, [quality_weight * q for q in c.quality]
    )
    method = NetScore(weighting=search.weighting, quality_weight=quality_weight, score_weight=score_weight)
    assert search.found(method) == search.expected(reference.net_score(weighted, 1.0))


def test_qualities_above_one():
    documents = [("d1", "tie"), ("d2", "tie tie"), ("d3", "tie")]
    index = Index.build(documents, analyzer=str.split, quality={"d1": 7.5, "d2": 0, "d3": 100})
    for method in (NetScore(weighting="nnn.nnn"), HighLow(weighting="nnn.nnn")):
        run = method.search(index, {"q": "tie"})
        assert dict(zip(run.documents.to_list(), run.scores.tolist(), strict=True)) == {"d3": 101, "d1": 8.5, "d2": 2}
    for wrong in (-1, math.inf, math.nan):
        with pytest.raises(InputError, match=r"^quality\[1\]: "):
            Index.build(documents, analyzer=str.split, quality=[1, wrong, 1])


def test_qualities_above_one_are_saved(tmp_path):
    index = Index.build([("d1", "tie"), ("d2", "tie")], quality=[0, 12.5])
    index.save(tmp_path / "index")
    assert Index.load(tmp_path / "index").quality.tolist() == [0, 12.5]


@pytest.mark.parametrize("name", ["quality_weight", "score_weight"])
def test_weights_of_parts_are_checked(name):
    with pytest.raises(InputError, match=rf"^{name}: expected a number from 0 to 1e\+12, found -1$"):
        NetScore(**{name: -1})


def test_different_methods_have_different_names():
    """A parameter that is None or () is left out of the name only if that is its default."""
    names = {}
    for method in known_methods().values():
        names[str(method())] = method()
        for field in fields(method):
            for value in (None, ()):
                try:
                    changed = method(**{field.name: value})
                except InputError:
                    continue
                assert names.setdefault(str(changed), changed) == changed
                assert parse_method(str(changed)) == changed
