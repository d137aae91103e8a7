"""Phrases and AND, OR and NOT, against set operations on the words of the documents."""

import random
from functools import reduce

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import top
from searches import Search, find, searches

from tieaware import InputError
from tieaware.retrieval import (
    WAND,
    AtLeast,
    BlindFeedback,
    BlockMaxWAND,
    Champions,
    Exact,
    HighIdf,
    HighLow,
    ImpactOrdered,
    Index,
    MaxScore,
    NetScore,
    Proximity,
    Tiers,
    parse_query,
)

DOCUMENTS = [
    ("d1", "boundary layer flow"), ("d2", "layer of a boundary"), ("d3", "flow in a boundary layer layer"),
    ("d4", "supersonic flow"), ("d5", "flow"), ("d6", ""),
]  # fmt: skip

# An expression is a word, a tuple of words (a phrase), or a list of an operator and expressions.
Expression = str | tuple[str, ...] | list


def runs_of(text: list[str], n: int) -> set[tuple[str, ...]]:
    """Return all runs of n consecutive words."""
    return {tuple(text[i : i + n]) for i in range(len(text))}


def matches(expression: Expression, texts: list[list[str]]) -> set[int]:
    """Return the documents that match, by sets."""
    if isinstance(expression, str):
        return {d for d, text in enumerate(texts) if expression in text}
    if isinstance(expression, tuple):
        return {d for d, text in enumerate(texts) if expression in runs_of(text, len(expression))}
    operator, *operands = expression
    found = [matches(each, texts) for each in operands]
    if operator == "NOT":
        return set(range(len(texts))) - found[0]
    return reduce(set.union if operator == "OR" else set.intersection, found)


def ranking(expression: Expression, excluded: bool = False) -> list[str]:
    """Return the words that rank: those under an even number of NOTs."""
    if isinstance(expression, list):
        operator, *operands = expression
        return [word for each in operands for word in ranking(each, excluded != (operator == "NOT"))]
    words = [expression] if isinstance(expression, str) else list(expression)
    return [] if excluded else words


def written(expression: Expression, above: str = "") -> str:
    """Write an expression, with parentheses only where they are needed."""
    if isinstance(expression, str):
        return expression
    if isinstance(expression, tuple):
        return f'"{" ".join(expression)}"'
    operator, *operands = expression
    if operator == "NOT":
        return f"NOT {written(operands[0], 'NOT')}"
    text = f" {operator} ".join(written(each, operator) for each in operands)
    return f"({text})" if (operator, above) in {("OR", "AND"), ("OR", "NOT"), ("AND", "NOT")} else text


def drawn(rng: random.Random, depth: int) -> Expression:
    """Draw an expression."""
    kind = rng.choice(("word", "phrase", "phrase", "AND", "OR", "NOT") if depth else ("word", "phrase"))
    if kind == "word":
        return rng.choice("aabcdez")
    if kind == "phrase":
        return tuple(rng.choices("aabbcz" if rng.random() < 0.2 else "aabbc", k=rng.choice((1, 2, 2, 3))))
    return [kind, *(drawn(rng, depth - 1) for _ in range(1 if kind == "NOT" else rng.choice((2, 2, 3))))]


def of(search: Search, seed: int) -> tuple[str, list[str], set[int]]:
    """Return a query as text, the words that rank, and the documents that match."""
    rng = random.Random(seed)
    parts = [drawn(rng, 2) for _ in range(rng.choice((1, 1, 2, 3)))]
    everything = set(range(len(search.texts)))
    allowed = [matches(each, search.texts) for each in parts if not isinstance(each, str)]
    text = rng.choice((" ", "  ", "\n")).join(map(written, parts))
    return text, [word for each in parts for word in ranking(each)], reduce(set.intersection, allowed, everything)


@given(searches(), st.integers(0, 2**20))
@settings(max_examples=300, deadline=None)
def test_filters_equal_operations_on_sets(search: Search, seed):
    text, words, allowed = of(search, seed)
    query = parse_query(search.index, text)
    plain = search.index.query(words)
    assert (query.terms.tolist(), query.frequencies.tolist()) == (plain.terms.tolist(), plain.frequencies.tolist())
    if query.documents is None:
        assert allowed == set(range(len(search.texts)))
    else:
        assert query.documents.tolist() == sorted(allowed)


@given(searches(), st.integers(0, 2**20))
@settings(max_examples=150, deadline=None)
def test_exact_methods_find_the_best_documents_that_match(search: Search, seed):
    text, words, allowed = of(search, seed)
    query = parse_query(search.index, text)
    everything = Exact(weighting=search.weighting).search(search.index, {"q": search.index.query(words)}, k=100)
    scores = {int(d[1:]): s for d, s in zip(everything.documents.to_list(), everything.scores.tolist(), strict=True)}
    expected = top({d: s for d, s in scores.items() if d in allowed}, search.k, search.whole_ties)
    for method in (Exact, MaxScore, WAND, BlockMaxWAND):
        run = method(weighting=search.weighting).search(
            search.index, {"q": query}, search.k, whole_ties=search.whole_ties
        )
        found = [int(name[1:]) for name in run.documents.to_list()]
        assert list(zip(found, run.scores.tolist(), strict=True)) == expected


@given(searches(), st.integers(0, 2**20))
@settings(max_examples=50, deadline=None)
def test_every_method_searches_deeper_until_k_documents_match(search: Search, seed):
    text, _, allowed = of(search, seed)
    query, n = parse_query(search.index, text), len(search.index)
    if query.documents is None:
        query = query._replace(documents=search.index.query([]).terms.astype("int32"))
        allowed = set()
    for method in (
        AtLeast(m=2), Champions(r=2), Champions(r=1, fallback=True), HighLow(r=1), NetScore(), Tiers(quantiles=(0.5,)),
        ImpactOrdered(postings=3), Proximity(), HighIdf(share=0.5, method="Champions(r=2)"),
    ):  # fmt: skip
        expected, depth = [], min(search.k, n)
        while allowed:
            found = find(method, search.index, depth, True, query)
            pairs = zip(found.documents.tolist(), found.scores.tolist(), strict=True)
            expected = [(d, s) for d, s in pairs if d in allowed]
            if len(expected) >= search.k or len(found.documents) < depth or depth == n:
                break
            depth = min(8 * depth, n)
        if search.whole_ties:
            expected = [each for each in expected if each[1] >= expected[: search.k][-1][1]]
        else:
            expected = expected[: search.k]
        run = method.search(search.index, {"q": query}, search.k, whole_ties=search.whole_ties)
        names = [int(name[1:]) for name in run.documents.to_list()]
        assert list(zip(names, run.scores.tolist(), strict=True)) == expected, method


@pytest.fixture(scope="module")
def index() -> Index:
    def analyzer(text):
        return [word for word in text.split() if word not in ("of", "a", "in")]

    return Index.build(DOCUMENTS, analyzer=analyzer)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"boundary layer"', ["d1", "d3"]),
        # Stop words do not count in a phrase.
        ('"layer boundary"', ["d2"]), ('"layer of a boundary"', ["d2"]), ('"flow in a boundary"', ["d3"]),
        ('"layer layer"', ["d3"]), ('"flow flow"', []), ('flow NOT "boundary layer"', ["d4", "d5"]),
        ("flow NOT (layer OR supersonic)", ["d5"]), ("flow AND layer", ["d1", "d3"]),
        ("flow AND NOT layer", ["d4", "d5"]), ("supersonic OR boundary AND NOT flow", ["d2", "d4"]),
        ("(supersonic OR boundary) AND flow", ["d1", "d3", "d4"]), ("boundary (flow)", ["d1", "d3", "d4", "d5"]),
        # Words of no document, and words of the analyzer's stop list.
        ("flow AND unknown", []), ("flow OR unknown", ["d1", "d3", "d4", "d5"]), ("supersonic AND of", ["d4"]),
        ('supersonic "of a"', ["d4"]), ("supersonic NOT of", ["d4"]), ("NOT unknown flow", ["d1", "d3", "d4", "d5"]),
        # No word ranks, so no document is found.
        ("NOT layer", []), ("", []), ("NOT NOT supersonic", ["d4"]), ("flow OR NOT flow", ["d1", "d3", "d4", "d5"]),
    ],
)  # fmt: skip
def test_documents_of_queries(index, text, found):
    run = Exact(weighting="nnn.nnn").search(index, {"q": parse_query(index, text)})
    assert sorted(run.documents.to_list()) == found


@pytest.mark.parametrize("text", ["supersonic NOT boundary", "flow AND NOT layer AND supersonic"])
def test_document_parts(index, text):
    """Documents that match, but contain no word that ranks, are not found."""
    run = Exact(weighting="lm-dirichlet:3").search(index, {"q": parse_query(index, text)})
    assert run.documents.to_list() == ["d4"]


@pytest.mark.parametrize("text", ["boundary layers", "and or not", "  ", "a", "flow flow Not"])
def test_plain_words_are_the_same_query(index, text):
    query, plain = parse_query(index, text), index.query(text)
    assert query.documents is None
    assert (query.terms.tolist(), query.frequencies.tolist()) == (plain.terms.tolist(), plain.frequencies.tolist())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('flow "boundary', 'query, character 6: this " begins a phrase that has no second "'),
        ("flow AND", "query, character 9: expected a word, a phrase, NOT or (, found the end"),
        ("AND flow", "query, character 1: expected a word, a phrase, NOT or (, found AND"),
        ("flow OR OR x", "query, character 9: expected a word, a phrase, NOT or (, found OR"),
        ("flow )", "query, character 6: expected a word, a phrase, NOT or (, found )"),
        ("()", "query, character 2: expected a word, a phrase, NOT or (, found )"),
        ("(flow", "query, character 6: expected AND, OR or ), found the end"),
        ("(flow layer)", "query, character 7: expected AND, OR or ), found 'layer'"),
        ('(flow\n"a b")', "query, character 7: expected AND, OR or ), found 'a b'"),
        ("NOT", "query, character 4: expected a word, a phrase, NOT or (, found the end"),
        ("(" * 101 + "a", "query, character 101: more than 100 parentheses or NOTs inside one another"),
        ("NOT " * 5000 + "a", "query, character 401: more than 100 parentheses or NOTs inside one another"),
        (5, "query: expected text, found 5"),
    ],
)
def test_malformed_queries_are_refused_in_one_line(index, text, message):
    with pytest.raises(InputError) as refused:
        parse_query(index, text)
    assert str(refused.value) == message


def test_phrases_need_positions_and_texts_an_analyzer():
    index = Index.build(DOCUMENTS, analyzer=str.split, positions=False)
    assert parse_query(index, "flow AND layer").documents.tolist() == [0, 2]
    with pytest.raises(InputError, match=r"^index: has no positions; build it with positions$"):
        parse_query(index, '"boundary layer"')
    index = Index.from_tokens([[0]], ["a"])
    with pytest.raises(InputError, match=r"^query: must be a sequence of terms: the index has no analyzer"):
        parse_query(index, '"a b"')


@given(st.text(alphabet='ab()" ANDORT', max_size=20))
@example('"" a')
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_query_or_one_line(text):
    index = Index.build([("d1", "a b"), ("d2", "b")], analyzer=str.split)
    try:
        query, problem = parse_query(index, text), ""
    except InputError as error:
        query, problem = index.query(""), str(error)
    assert not problem or problem.startswith("query, character ")
    assert "\n" not in problem
    assert query.documents is None or set(query.documents.tolist()) <= {0, 1}


def test_feedback_takes_only_documents_that_match():
    index = Index.build([("d1", "tie a"), ("d2", "tie b"), ("d3", "a"), ("d4", "b")], analyzer=str.split)
    query = parse_query(index, "tie NOT b")
    run = BlindFeedback(weighting="nnn.nnn").search(index, {"q": query})
    assert run.documents.to_list() == ["d1", "d3"]
    assert run.scores.tolist() == [2.5, 0.75]


def test_costs_are_those_of_all_searches(index):
    query = parse_query(index, "flow AND supersonic")
    queries = {"q": query, "none": parse_query(index, "flow unknown AND flow")}
    run, costs = AtLeast(weighting="nnc.nnc").counted(index, queries)
    assert (run.offsets.tolist(), costs.postings.tolist()) == ([0, 1, 1], [5, 0])
    # Exact methods read only the postings of d4.
    for method in (Exact, MaxScore, WAND, BlockMaxWAND):
        run, costs = method(weighting="nnc.nnc").counted(index, queries)
        assert (run.offsets.tolist(), costs.postings.tolist()) == ([0, 1, 1], [2, 0])
    # The first search, for one document, finds d1, which contains the excluded word; the second finds all documents.
    query = parse_query(index, "flow boundary NOT layer")
    assert AtLeast(weighting="nnc.nnc").counted(index, {"q": query}, k=1)[1].postings.tolist() == [7 * 2]


def test_long_filters_end():
    """Long phrases are refused, and equal parts of a filter are searched once."""
    index = Index.build([("d1", "a " * 5000), ("d2", "a b " * 5000)], analyzer=str.split)
    with pytest.raises(InputError, match=r"^query: a phrase of 100,000 words is longer than 1,000 words$"):
        parse_query(index, f'"{"a " * 100_000}"')
    query = parse_query(index, " AND ".join(['"a b"'] * 5000) + " " * 100_000)
    assert query.documents is not None
    assert query.documents.tolist() == [1]
    longest = parse_query(index, f'"{"a " * 1000}"').documents
    assert longest is not None
    assert longest.tolist() == [0]
