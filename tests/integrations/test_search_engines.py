"""Judgments and results of search engines: every form, Elasticsearch's own values, and errors with file and path."""

import contextlib
import gzip
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.errors import message_of, refusal

import tieaware
from tieaware import InputError
from tieaware.integrations.search_engines import read_judgments, read_results


def rated(**ratings):
    return [{"_index": "shop", "_id": document, "rating": rating} for document, rating in ratings.items()]


def hits(**scores):
    return [{"_index": "shop", "_id": document, "_score": score} for document, score in scores.items()]


LABELS = {"red dress": {"a": 3, "b": 0, "c": 2}, "jeans": {"a": 1}}
REQUEST = {
    "requests": [
        {"id": query, "request": {"query": {"match": {"title": query}}}, "ratings": rated(**labels)}
        for query, labels in LABELS.items()
    ],
    "metric": {"dcg": {"k": 3, "normalize": True}},
}
WORKBENCH = {
    "name": "ours", "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": query, "ratings": [{"docId": name, "rating": f"{label:.3f}"} for name, label in labels.items()]}
        for query, labels in LABELS.items()
    ],
}  # fmt: skip
SHOWN = {"took": 3, "hits": {"total": {"value": 1}, "hits": [{"_id": "7", "_score": 1, "_source": WORKBENCH}]}}
FORMS = {
    "_rank_eval": REQUEST,
    "workbench": WORKBENCH,
    "workbench, shown": SHOWN,
    "workbench, first version": {"judgmentRatings": {
        each["query"]: each["ratings"] for each in WORKBENCH["judgmentRatings"]
    }},
    "Quepid, ratings": {"queries": [{"query": query, "ratings": labels} for query, labels in LABELS.items()]},
    "Quepid, case": {"case_name": "ours", "queries": [
        {"query_text": query, "notes": None, "ratings": {**labels, "unrated": None}} for query, labels in LABELS.items()
    ] + [{"query_text": "none", "ratings": []}, {"query_text": "empty"}]},
    "Rated Ranking Evaluator": {"id_field": "id", "queries": [
        {"placeholders": {"$query": "red dress"}, "relevant_documents": {"0": ["b"], "2": ["c"], "3": ["a"]}},
        {"placeholders": {"$query": "jeans"}, "relevant_documents": {"1": ["a"]}},
    ]},
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_judgments(form, tmp_path):
    path = tmp_path / "judgments.json.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(FORMS[form]).encode()))
    for source in (FORMS[form], path, str(path), io.BytesIO(json.dumps(FORMS[form]).encode())):
        found = read_judgments(source)
        assert found.to_dict() == LABELS
        assert found.labels.dtype == np.int32


def test_ratings_from_clicks_are_real_numbers():
    ratings = [{"docId": "a", "rating": "1.625"}, {"docId": "b", "rating": 0.25}]
    found = read_judgments({"judgmentRatings": [{"query": "jeans", "ratings": ratings}]})
    assert found.to_dict() == {"jeans": {"a": 1.625, "b": 0.25}}


@pytest.mark.parametrize(
    "text",
    [
        'query,docid,rating\nred dress,a,3\nred dress,b,0\n"red dress",c,2.0\nnothing rated\njeans,a,1\njeans,x,\n',
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\r\n"
        + "".join(
            f't,c,1,{query},{name},1,"A ""title"", with\nmore",{label}\r\n'
            for query, labels in LABELS.items() for name, label in labels.items()
        ),
    ],
)  # fmt: skip
def test_quepid_csv(text, tmp_path):
    (tmp_path / "ratings.csv").write_text(text)
    assert read_judgments(tmp_path / "ratings.csv").to_dict() == LABELS


def test_documents_of_two_indices():
    ratings = [{"_index": index, "_id": "a", "rating": label} for index, label in (("shop", 1), ("blog", 2))]
    request = {"requests": [{"id": "q", "ratings": ratings}]}
    assert read_judgments(request, with_index=True).to_dict() == {"q": {"shop/a": 1, "blog/a": 2}}
    expected = "source: requests[0].ratings[1]: the document 'a' has the ratings 1 and 2 for 'q'"
    assert message_of(read_judgments, request) == expected
    response = {"hits": {"hits": [{"_index": index, "_id": "a", "_score": 1.5} for index in ("shop", "blog")]}}
    assert read_results(response, "q", with_index=True).to_dict() == {"q": {"shop/a": 1.5, "blog/a": 1.5}}
    expected = (
        "source: hits.hits[1]: the document 'a' occurs twice: duplicates='highest' keeps its highest score; "
        "with_index=True tells indices apart"
    )
    assert message_of(read_results, response, "q") == expected


RUN = {"red dress": {"b": 7.5, "a": 7.5, "d": 1.25}, "jeans": {"a": 2.0}}
RANK_EVAL = {
    "metric_score": 0.5,
    "details": {
        query: {"metric_score": 0.5, "unrated_docs": [],
                "hits": [{"hit": hit, "rating": LABELS[query].get(hit["_id"])} for hit in hits(**scores)]}
        for query, scores in RUN.items()
    },
    "failures": {},
}  # fmt: skip
SEARCHES = [{"took": 2, "hits": {"total": {"value": 9}, "hits": hits(**scores)}} for scores in RUN.values()]
VESPA = [
    {"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 9}, "children": [
        {"id": "group:root:0", "relevance": 1.0, "children": []},
        *({"id": name, "relevance": score, "source": "shop", "fields": {"sku": f"s-{name}"}}
          for name, score in scores.items()),
    ]}}
    for scores in RUN.values()
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "queries"),
    [
        (RANK_EVAL, None),
        ({"rank_eval": RANK_EVAL}, None),
        (SEARCHES, list(RUN)),
        ({"responses": SEARCHES}, tuple(RUN)),
        ([{"responses": SEARCHES[:1]}, SEARCHES[1]], list(RUN)),
        (VESPA, list(RUN)),
    ],
)
def test_every_form_of_results(source, queries, tmp_path):
    (tmp_path / "results.json").write_text(json.dumps(source))
    for each in (source, tmp_path / "results.json"):
        run = read_results(each, queries, name="bm25")
        assert run.to_dict() == RUN
        assert run.name == "bm25"


def test_one_response_and_other_identifiers():
    assert read_results(SEARCHES[0], "red dress").to_dict() == {"red dress": RUN["red dress"]}
    assert read_results(VESPA[1], ["jeans"], document="fields.sku").to_dict() == {"jeans": {"s-a": 2.0}}
    assert read_results({"root": {"id": "toplevel", "relevance": 1.0}}, "q").to_dict() == {"q": {}}


def elastic_ndcg(labels, documents):
    """Return nDCG as _rank_eval documents it: the ideal list is as long as the list of hits."""
    def dcg(ratings):
        return math.fsum((2**rating - 1) / math.log2(rank + 1) for rank, rating in enumerate(ratings, 1))

    ideal = sorted(labels.values(), reverse=True)[: len(documents)]
    return dcg(labels.get(each, 0) for each in documents) / dcg(ideal)


def test_ndcg_is_that_of_rank_eval_in_the_order_of_the_hits():
    """The values agree if there are as many hits as the cut-off. With fewer, Elasticsearch's ideal list is shorter."""
    result = tieaware.evaluate(
        read_judgments(REQUEST), read_results(RANK_EVAL), ['nDCG(dcg="exp-log2")@3'], ties="run_order"
    )
    own = {query: elastic_ndcg(LABELS[query], list(scores)) for query, scores in RUN.items()}
    for query in RUN:
        assert float(result.values[0, result.queries.index(query), 0]) == pytest.approx(own[query], rel=1e-15)
    short = read_results({"hits": {"hits": hits(c=2.0)}}, "red dress")
    found = tieaware.evaluate(read_judgments(REQUEST), short, ['nDCG(dcg="exp-log2")@3'], queries="both")
    assert float(found) < elastic_ndcg(LABELS["red dress"], ["c"])


def test_ties_in_the_hits_are_averaged():
    qrels, run = read_judgments(REQUEST), read_results(RANK_EVAL)
    result = tieaware.evaluate(qrels, run, ['nDCG(dcg="exp-log2")@3'], spread=True)
    orders = [elastic_ndcg(LABELS["red dress"], order) for order in (["b", "a", "d"], ["a", "b", "d"])]
    row = result.queries.index("red dress")
    assert result.values[0, row, 0] == pytest.approx(np.mean(orders), rel=1e-15)
    assert (result.min[0, row, 0], result.max[0, row, 0]) == pytest.approx((min(orders), max(orders)), rel=1e-15)


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ({"ratings": []}, "these are no judgments in a known form: there is none of the keys 'requests', "
         "'judgmentRatings', 'hits', 'queries'"),
        ([], "these are no judgments in a known form: there is none of the keys 'requests', 'judgmentRatings', 'hits', "
         "'queries'"),
        ({"requests": {}}, "requests: expected an array, found {}"),
        ({"requests": [3]}, "requests[0]: expected an object with the key 'id', found 3"),
        ({"requests": [{"id": "q"}]}, "requests[0]: the object has no key 'ratings'"),
        ({"requests": [{"id": None, "ratings": []}]}, "requests[0].id: expected text or an integer, found None"),
        ({"requests": [{"id": "q", "ratings": [{"_id": "a", "rating": "good"}]}]},
         "requests[0].ratings[0].rating: expected a number, found 'good'"),
        ({"requests": [{"id": "q", "ratings": [{"_id": "a", "rating": True}]}]},
         "requests[0].ratings[0].rating: expected a number, found True"),
        ({"requests": [{"id": "q", "ratings": [{"_id": ["a"], "rating": 1}]}]},
         "requests[0].ratings[0]._id: expected text or an integer, found ['a']"),
        ({"judgmentRatings": 1}, "judgmentRatings: expected an array, found 1"),
        ({"judgmentRatings": {"a b": [{"docId": "a"}]}}, "judgmentRatings['a b'][0]: the object has no key 'rating'"),
        ({"hits": {"hits": []}}, "hits.hits: must be one judgment list; there are 0"),
        ({"queries": [{"query": "q", "ratings": {"a": "x"}}]},
         "queries[0].ratings.a: expected a number, found 'x'"),
        ({"queries": [{"placeholders": {"$query": "q"}, "relevant_documents": {"good": ["a"]}}]},
         "queries[0].relevant_documents.good: expected a number, found 'good'"),
        ({"queries": [{"query": "q", "ratings": [1]}]}, "queries[0].ratings: expected an object, found [1]"),
    ],
)  # fmt: skip
def test_unusable_judgments_are_refused_with_file_and_path(judgments, message, tmp_path):
    path = tmp_path / "judgments.json"
    path.write_text(json.dumps(judgments))
    for source, name in ((judgments, "source"), (path, str(path))):
        assert message_of(read_judgments, source) == f"{name}: {message}"


@pytest.mark.parametrize(
    ("results", "queries", "message"),
    [
        ({"took": 1}, "q", "source: these are no results in a known form: there is none of the keys 'details', "
         "'responses', 'hits', 'root', 'response', 'error'"),
        (RANK_EVAL, "q", "queries: must not be given: a response of _rank_eval names its queries"),
        ({**RANK_EVAL, "failures": {"jeans": {"error": "x"}}}, None,
         "source: failures.jeans: the search of 'jeans' failed, so its hits are missing"),
        (SEARCHES, ["q"], "queries: must name the query of each response: there are 2 responses and 1 names"),
        (SEARCHES, None, "queries: must name the query of each response: there are 2 responses and 0 names"),
        (SEARCHES, ["q", "q"], "queries: names 'q' twice"),
        ({"hits": {"hits": hits(a=None)}}, "q",
         "source: hits.hits[0]._score: the hit has no score: hits that are sorted by a field have none"),
        ({"hits": {"hits": [{"_id": "a"}]}}, "q", "source: hits.hits[0]: the object has no key '_score'"),
        ({"hits": {"hits": hits(a=2**53, b=2**53 + 1)}}, "q",
         "source: hits.hits[1]._score: expected a number that float64 represents exactly, found 9007199254740993"),
        ({"error": {"reason": "no index"}, "status": 404}, "q",
         "source: error: the search failed: {'reason': 'no index'}"),
        ({"responses": [{"error": "no"}]}, "q", "source: responses[0].error: the search failed: 'no'"),
        ({"root": {"errors": [{"code": 4}]}}, "q", "source: root.errors: the search failed: [{'code': 4}]"),
        ({"root": {"children": [{"id": "a"}]}}, "q", "source: root.children[0]: the object has no key 'relevance'"),
        ({"root": {"children": [{"relevance": 1.0}]}}, "q", "source: root.children[0]: the object has no key 'id'"),
        ({"root": {"children": [{"id": "a", "relevance": "NaN"}]}}, "q",
         "source: root.children[0].relevance: expected a number, found 'NaN'"),
        ({"root": {"children": [{"id": "a", "relevance": 1}, {"id": "a", "relevance": 1}]}}, "q",
         "source: root.children[1]: the document 'a' occurs twice: duplicates='highest' keeps its highest score"),
    ],
)  # fmt: skip
def test_unusable_results_are_refused(results, queries, message):
    assert message_of(read_results, results, queries) == message


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("a.json", b"", ":1: this is not JSON: Expecting value at column 1"),
        ("a.json", b'{"requests":\n [}', ":2: this is not JSON: Expecting value at column 3"),
        ("a.json", b"[" * 100_000, ": the JSON is nested too deeply"),
        ("a.json", b'{"requests": ["\xff"]}', ":1: the text is not UTF-8"),
        ("a.json", b"9" * 5000, ": this is not usable JSON: "),
        ("a.json", b'{"requests": [{"id": "q", "ratings": [{"_id": "a", "rating": 1e999}]}]}',
         ": requests[0].ratings[0].rating: expected a number, found 1e999, which float64 cannot represent"),
        ("a.csv", b"", ":1: this line must name the columns query, docid and rating"),
        ("a.csv", b"query,rating\n", ":1: this line must name the columns query, docid and rating"),
        ("a.csv", b"query,docid,rating\nq,a,good\n", ":2: expected a number, found 'good'"),
        ("a.csv", b'query,docid,rating\nq,"a"b,1\n', ":2: this is not CSV: "),
        ("a.csv", b"query,docid,rating\nq,\xff,1\n", ":2: the text is not UTF-8"),
        ("a.csv", b"query,docid,rating\nq,a,1\nq,a,2\n", ":3: the document 'a' has the ratings 1 and 2 for 'q'"),
        ("missing.json", None, ": "),
    ],
)  # fmt: skip
def test_unusable_files_are_refused(name, contents, message, tmp_path):
    path = tmp_path / name
    if contents is not None:
        path.write_bytes(contents)
    assert message_of(read_judgments, path).startswith(f"{path}{message}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


def with_other_value(value, path, other):
    """Return a JSON value in which another stands at the end of a path, each step of which is a number from 0 to 1."""
    if not path or not isinstance(value, dict | list) or not value:
        return other
    copied = value.copy()
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = keys[int(path[0] * len(keys))]
    copied[key] = with_other_value(value[key], path[1:], other)
    return copied


STEPS = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=7)


@given(st.sampled_from(list(FORMS.values())), STEPS, JSON)
@settings(max_examples=300, deadline=None)
def test_judgments_with_any_value_in_any_place_are_read_or_refused_in_one_line(judgments, path, other):
    refusal(read_judgments, with_other_value(judgments, path, other))


@given(st.sampled_from([RANK_EVAL, SEARCHES, VESPA]), STEPS, JSON)
@settings(max_examples=300, deadline=None)
def test_results_with_any_value_in_any_place_are_read_or_refused_in_one_line(results, path, other):
    refusal(read_results, with_other_value(results, path, other), None if results is RANK_EVAL else list(RUN))


def nested(value, key=None, depth=100_000):
    for _ in range(depth):
        value = [value] if key is None else {key: value}
    return value


def containing_itself(key):
    hits, document = [], {}
    hits.append(hits if key is None else {key: hits})
    document[key] = document
    return [hits, document]


KEYS = (None, "hits", "responses", "root", "rank_eval", "details", "requests", "judgmentRatings", "queries", "children")


@pytest.mark.parametrize("key", KEYS)
def test_parsed_json_may_be_nested_deeply_or_contain_itself(key):
    """It is an error of one line, or is read as far as its keys have a meaning."""
    for value in (nested([], key), *containing_itself(key)):
        hits = {"hits": {"hits": value}}
        for source in (value, [value], {"hits": value}, hits, {"root": {"children": [{"id": value}]}}):
            for read in (lambda source: read_results(source, ["q"]), read_judgments):
                # Another exception, such as RecursionError, fails the test.
                with contextlib.suppress(InputError):
                    assert not read(source).to_dict().get("q")


@pytest.mark.parametrize(
    "value", [nested([]), containing_itself(None)[0], nested({}, "hits"), containing_itself("q")[1]]
)
def test_values_that_are_nested_deeply_are_refused_everywhere(value):
    for call in (
        lambda: tieaware.evaluate(value, {"q": {"d": 1.0}}, "RR"),
        lambda: tieaware.evaluate({"q": {"d": 1}}, value, "RR"),
        lambda: tieaware.Qrels.from_dict({"q": value}),
        lambda: tieaware.Run.from_dict({"q": {"d": value}}),
        lambda: tieaware.Run.from_columns(value, value, value),
        lambda: tieaware.Evaluator(value, "RR"),
        lambda: tieaware.Evaluator([1, 0], "RR")(value),
        lambda: tieaware.Evaluator([1, 0], "RR")([value, np.ma.array([1.0])]),
    ):
        message_of(call)


def test_names_of_queries_are_identifiers():
    with pytest.raises(InputError, match=r"^queries\[1\]: expected text or an integer, found \['b'\]$"):
        read_results([{"hits": {"hits": []}}] * 2, ["a", ["b"]])
    assert message_of(read_results, {"hits": {"hits": []}}, 5) == "queries: expected a sequence of names, found 5"
