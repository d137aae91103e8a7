"""Runs: the hits and scores in responses of search engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tieaware.checks.arguments import sequence, shown
from tieaware.errors import InputError
from tieaware.inputs import Run
from tieaware.inputs.files.paths import Path
from tieaware.integrations.search_engines.json_values import Value, json_of
from tieaware.integrations.search_engines.judgment_lists import document_name

# The keys of a response, one of which it has.
_KEYS = ("responses", "hits", "root", "error")


def read_results(
    source: Path | Mapping[str, Any] | list[Any],
    queries: str | Sequence[str | int] | None = None,
    *,
    document: str | None = None,
    with_index: bool = False,
    name: str = "run",
) -> Run:
    """Read the results of a search engine.

    Parameters
    ----------
    source : path, binary file or JSON value
        One of these, plain or compressed; the contents say which.

        - A response of Elasticsearch's or OpenSearch's ``_rank_eval``, which names its queries.
        - A response of ``_search`` or ``_msearch``, or a result of Vespa, in its default format.
        - An array of such responses.
    queries : sequence of str or int, or str, optional
        The query of each response, in order; for one response, its query. Not for ``_rank_eval``.
    document : str, optional
        The key of a hit that identifies its document, with dots: "fields.sku". By default "_id", and "id" for Vespa.
    with_index : bool
        Whether a document of Elasticsearch or OpenSearch is named "index/id", as in `read_judgments`.
    name : str
        The name of the run.

    Returns
    -------
    Run
        Equal scores tie, although a search engine lists one of the documents first.

    Raises
    ------
    InputError
        If the file cannot be read or has none of these forms, a search failed, a hit has no score, or a document occurs
        twice for a query. The message names the file, and the path inside the JSON.

    Examples
    --------
    >>> from tieaware.integrations import search_engines
    >>> hits = [{"_index": "shop", "_id": "a", "_score": 7.5}, {"_index": "shop", "_id": "b", "_score": 7.5}]
    >>> search_engines.read_results({"hits": {"hits": hits}}, "red dress").to_dict()
    {'red dress': {'a': 7.5, 'b': 7.5}}
    """
    results = json_of(source, "source")
    rank_eval = results.child("rank_eval") or results
    if rank_eval.child("details") is not None:
        if queries is not None:
            raise InputError("queries", "must not be given: a response of _rank_eval names its queries")
        pairs: list[tuple[str | int, Value]] = list(_of_rank_eval(rank_eval))
    else:
        pairs = _named(list(_responses(results)), queries)
    run: dict[str | int, dict[str | int, float]] = {}
    for query, response in pairs:
        if query in run:
            raise InputError("queries", f"names {shown(query)} twice")
        run[query] = _scores(response, document, with_index)
    return Run.from_dict(run, name=name)


def _of_rank_eval(response: Value) -> Iterator[tuple[str, Value]]:
    """Yield the queries of a response of _rank_eval, with their entries."""
    failures = response.child("failures")
    for query, failure in failures.members() if failures is not None else ():
        raise InputError(failure.place, f"the search of {shown(query)} failed, so its hits are missing")
    yield from response["details"].members()


def _responses(results: Value) -> Iterator[Value]:
    """Yield the responses to single queries."""
    for each in results.elements() if isinstance(results.value, list) else (results,):
        yield from _responses_in(each)


def _responses_in(results: Value) -> Iterator[Value]:
    if results.child("responses") is not None:
        yield from results["responses"].elements()
    elif any(results.child(key) is not None for key in _KEYS):
        yield results
    else:
        keys = ", ".join(map(repr, ("details", *_KEYS)))
        raise InputError(results.place, f"these are no results in a known form: there is none of the keys {keys}")


def _named(responses: list[Value], queries: Any) -> list[tuple[str | int, Value]]:
    """Return the responses with their queries."""
    given = () if queries is None else (queries,) if isinstance(queries, str) else sequence("queries", queries, "names")
    names = [Value(name, f"queries[{i}]").identifier() for i, name in enumerate(given)]
    if len(names) != len(responses):
        problem = f"must name the query of each response: there are {len(responses)} responses and {len(names)} names"
        raise InputError("queries", problem)
    return list(zip(names, responses, strict=True))


def _scores(response: Value, document: str | None, with_index: bool) -> dict[str | int, float]:
    """Return the scores of the hits of one query."""
    error = response.child("error")
    if error is not None:
        raise InputError(error.place, f"the search failed: {shown(error.value)}")
    scores: dict[str | int, float] = {}
    root = response.child("root")
    for hit, score in _elastic_hits(response) if root is None else _vespa_hits(root):
        if document is not None or root is not None:
            found = hit
            for key in (document or "id").split("."):
                found = found[key]
            identifier = found.identifier()
        else:
            identifier = document_name(hit, with_index)
        if identifier in scores:
            hint = "" if with_index or hit.child("_index") is None else "; with_index=True tells indices apart"
            raise InputError(hit.place, f"the document {shown(identifier)} occurs twice{hint}")
        scores[identifier] = _score(score)
    return scores


def _score(score: Value) -> float:
    if score.value is None:
        raise InputError(score.place, "the hit has no score: hits that are sorted by a field have none")
    return score.number()


def _elastic_hits(response: Value) -> Iterator[tuple[Value, Value]]:
    """Yield the hits of _search, or of a query of _rank_eval, with their scores."""
    hits = response["hits"]
    rated = isinstance(hits.value, list)
    for each in (hits if rated else hits["hits"]).elements():
        hit = each["hit"] if rated else each
        yield hit, hit["_score"]


def _vespa_hits(root: Value) -> Iterator[tuple[Value, Value]]:
    """Yield the hits of a result of Vespa with their scores, without the groups of a grouping."""
    errors = root.child("errors")
    if errors is not None and errors.value:
        raise InputError(errors.place, f"the search failed: {shown(errors.value)}")
    children = root.child("children")
    for hit in children.elements() if children is not None else ():
        identifier = hit.child("id")
        if identifier is None or not (isinstance(identifier.value, str) and identifier.value.startswith("group:")):
            yield hit, hit["relevance"]
