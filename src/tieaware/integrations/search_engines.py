"""Judgments and results of Elasticsearch, OpenSearch, Quepid and Vespa: their files and JSON objects, without a server.

`read_judgments` reads requests of ``_rank_eval``, OpenSearch judgment lists and Quepid exports. `read_results` reads
responses of ``_rank_eval``, ``_search`` and ``_msearch``, and results of Vespa.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, NamedTuple, get_args

import numpy as np

from tieaware.checks.arguments import is_integer, one_of, sequence, shown, unexpected
from tieaware.checks.arrays import as_scores
from tieaware.errors import InputError
from tieaware.inputs import Qrels, Run
from tieaware.inputs.files.byte_streams import ByteStream, RawFile
from tieaware.inputs.files.paths import Path, source_name, suffix_of
from tieaware.inputs.files.text import BYTE_ORDER_MARK, Lines, json_in, number_in
from tieaware.inputs.judgments.repetitions import DuplicateChoice

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class _Value:
    """A JSON value, the name of its file, and its path inside the file."""

    value: Any
    source: str
    path: str = ""

    @property
    def place(self) -> str:
        """The file and the path, for messages."""
        return ": ".join(filter(None, (self.source, self.path)))

    def child(self, key: str) -> _Value | None:
        """Return the value of a key; None if this is no object, or lacks the key."""
        if not isinstance(self.value, Mapping) or key not in self.value:
            return None
        part = key if _NAME.fullmatch(key) else f"[{shown(key)}]"
        return _Value(self.value[key], self.source, f"{self.path}.{part}".lstrip(".").replace(".[", "["))

    def __getitem__(self, key: str) -> _Value:
        """Return the value of a key, which the object must have."""
        found = self.child(key)
        if found is None:
            if not isinstance(self.value, Mapping):
                raise unexpected(self.place, f"an object with the key {key!r}", shown(self.value))
            raise InputError(self.place, f"the object has no key {key!r}")
        return found

    def elements(self) -> Iterator[_Value]:
        """Yield the elements, which must be those of an array."""
        if not isinstance(self.value, list | tuple):
            raise unexpected(self.place, "an array", shown(self.value))
        for i, element in enumerate(self.value):
            yield _Value(element, self.source, f"{self.path}[{i}]")

    def members(self) -> Iterator[tuple[str, _Value]]:
        """Yield the keys and values, which must be those of an object."""
        if not isinstance(self.value, Mapping):
            raise unexpected(self.place, "an object", shown(self.value))
        for key in self.value:
            if not isinstance(key, str):
                raise unexpected(self.place, "keys of text", shown(key))
            yield key, self[key]

    def identifier(self) -> str | int:
        """Return the value as an identifier: text or an integer."""
        if not isinstance(self.value, str) and not is_integer(self.value):
            raise unexpected(self.place, "text or an integer", shown(self.value))
        identifier: str | int = self.value
        return identifier

    def number(self) -> float:
        """Return the value as a finite number, which may be written as text: "3.000"."""
        if isinstance(self.value, str):
            try:
                number, found = number_in(self.value), shown(self.value)
            except ValueError as error:
                number, found = math.nan, f"{error}"
        elif isinstance(self.value, Number) and not isinstance(self.value, bool):
            number = as_scores(np.array([self.value]), self.place, lambda _: self.place).item()
            found = shown(self.value)
        else:
            number, found = math.nan, shown(self.value)
        if not math.isfinite(number):
            raise unexpected(self.place, "a number", found)
        return number


def _json_of(source: Path | Mapping[str, Any] | list[Any], argument: str) -> _Value:
    """Return the JSON value that a file contains, or that the caller has parsed already."""
    if isinstance(source, Mapping | list):
        return _Value(source, argument)
    return _Value(json_in(_contents(source), source_name(source)), source_name(source))


def _contents(source: Path) -> bytes:
    """Return the contents of a file, plain or compressed, without a byte order mark."""
    with ByteStream(source) as stream:
        return io.BufferedReader(RawFile(stream)).read().removeprefix(BYTE_ORDER_MARK)


# The columns of Quepid's exports, in lower case: of the short and of the long one.
_QUERY, _DOCUMENT, _RATING = ("query", "query text"), ("docid", "doc id"), ("rating",)


class _Rating(NamedTuple):
    """A rating of a document, and its place in the file."""

    query: str | int
    document: str | int
    label: float
    place: str


def read_judgments(source: Path | Mapping[str, Any] | list[Any], *, with_index: bool = False) -> Qrels:
    """Read the judgments of a search engine.

    Parameters
    ----------
    source : path, binary file or JSON object
        One of these, plain or compressed; the contents say which.

        - A request of Elasticsearch's or OpenSearch's ``_rank_eval``. A query is named by its ``id``.
        - A judgment list of OpenSearch's Search Relevance Workbench: what imports it (``judgmentRatings``), or the
          response that shows it.
        - An export of Quepid: ratings or a case as JSON, ratings for Rated Ranking Evaluator, or ratings as CSV
          (``.csv``).
    with_index : bool
        Whether a document of ``_rank_eval`` is named "index/id", which is needed if two indices have the same ids.

    Returns
    -------
    Qrels
        Whole labels stay whole. Documents without a rating are left out.

    Raises
    ------
    InputError
        If the file cannot be read or has none of these forms, or a document has two different ratings. The message
        names the file, and the path inside the JSON.

    Examples
    --------
    >>> from tieaware.integrations import search_engines
    >>> ratings = [{"_index": "shop", "_id": "a", "rating": 3}, {"_index": "shop", "_id": "b", "rating": 0}]
    >>> search_engines.read_judgments({"requests": [{"id": "red dress", "ratings": ratings}]})
    Qrels('qrels', 1 query, 2 judgments)
    """
    if suffix_of(source) == ".csv":  # type: ignore[arg-type]
        return _qrels(_from_csv(source))  # type: ignore[arg-type]
    judgments = _json_of(source, "source")
    for key, read in _READERS.items():
        if judgments.child(key) is not None:
            return _qrels(read(judgments, with_index))
    keys = ", ".join(map(repr, _READERS))
    raise InputError(judgments.place, f"these are no judgments in a known form: there is none of the keys {keys}")


def _qrels(ratings: Iterator[_Rating]) -> Qrels:
    labels: dict[str | int, dict[str | int, float]] = {}
    for rating in ratings:
        of_query = labels.setdefault(rating.query, {})
        if of_query.setdefault(rating.document, rating.label) != rating.label:
            first = of_query[rating.document]
            problem = f"has the ratings {first:g} and {rating.label:g} for {shown(rating.query)}"
            raise InputError(rating.place, f"the document {shown(rating.document)} {problem}")
    return Qrels.from_dict(labels)


def _from_rank_eval(judgments: _Value, with_index: bool) -> Iterator[_Rating]:
    for request in judgments["requests"].elements():
        query = request["id"].identifier()
        for rated in request["ratings"].elements():
            document = _document_name(rated, with_index)
            yield _Rating(query, document, rated["rating"].number(), rated.place)


def _document_name(document: _Value, with_index: bool) -> str | int:
    """Return the identifier of a document or hit: its ``_id``, or "index/id"."""
    name = document["_id"].identifier()
    return f"{document['_index'].identifier()}/{name}" if with_index else name


def _from_workbench(judgments: _Value, _: bool) -> Iterator[_Rating]:
    """Read a judgment list: [{"query": …, "ratings": […]}], or {query: […]} of the first versions."""
    lists = judgments["judgmentRatings"]
    if isinstance(lists.value, Mapping):
        pairs = [(query, ratings) for query, ratings in lists.members()]
    else:
        pairs = [(str(each["query"].identifier()), each["ratings"]) for each in lists.elements()]
    for query, ratings in pairs:
        for rated in ratings.elements():
            yield _Rating(query, rated["docId"].identifier(), rated["rating"].number(), rated.place)


def _from_shown_list(response: _Value, with_index: bool) -> Iterator[_Rating]:
    """Read the response that shows a judgment list: a search hit whose source is the list."""
    hits = list(response["hits"]["hits"].elements())
    if len(hits) != 1:
        raise InputError(response["hits"]["hits"].place, f"must be one judgment list; there are {len(hits)}")
    return _from_workbench(hits[0]["_source"], with_index)


def _from_quepid(judgments: _Value, _: bool) -> Iterator[_Rating]:
    """Read ratings or a case, {document: rating}, or ratings for Rated Ranking Evaluator.

    These are {rating: [documents]} or {document: {"gain": rating}}.
    """
    for each in judgments["queries"].elements():
        if each.child("relevant_documents") is not None:
            query = each["placeholders"]["$query"].identifier()
            for rating, documents in each["relevant_documents"].members():
                if documents.child("gain") is not None:
                    yield _Rating(query, rating, documents["gain"].number(), documents.place)
                    continue
                label = _Value(rating, documents.source, documents.path).number()
                for document in documents.elements():
                    yield _Rating(query, document.identifier(), label, document.place)
            continue
        query = (each.child("query_text") or each["query"]).identifier()
        # A query without a rating has none, or an empty array.
        ratings = each.child("ratings")
        for name, rated in ratings.members() if ratings is not None and ratings.value else ():
            if rated.value is not None:
                yield _Rating(query, name, rated.number(), rated.place)


def _from_csv(path: Path) -> Iterator[_Rating]:
    """Read Quepid's ratings as CSV. A query without ratings has a row of its own, without a document."""
    name = source_name(path)
    with ByteStream(path) as stream:
        lines = csv.reader(list(Lines(stream).decoded()), strict=True)
    try:
        header = [cell.strip().lower() for cell in next(lines, [])]
        columns = [next((header.index(each) for each in known if each in header), None)
                   for known in (_QUERY, _DOCUMENT, _RATING)]  # fmt: skip
        if None in columns:
            raise InputError(f"{name}:1", "this line must name the columns query, docid and rating")
        for cells in lines:
            query, document, rating = (cells[i] if i is not None and i < len(cells) else "" for i in columns)
            place = f"{name}:{lines.line_num}"
            if len(cells) > len(header):
                raise InputError(place, f"has {len(cells)} fields, but the header has {len(header)}")
            if document and rating:
                yield _Rating(query, document, _Value(rating, place).number(), place)
    except csv.Error as error:
        raise InputError(f"{name}:{lines.line_num}", f"this is not CSV: {error}") from None


_READERS: dict[str, Callable[[_Value, bool], Iterator[_Rating]]] = {
    "requests": _from_rank_eval,
    "judgmentRatings": _from_workbench,
    "hits": _from_shown_list,
    "queries": _from_quepid,
}


# The values of a response with all hits, by path: of Elasticsearch, Vespa and Solr.
_WHOLE = {"timed_out": False, "_shards.failed": 0, "root.coverage.full": True, "responseHeader.partialResults": False}
# A response has one of these keys.
_KEYS = ("responses", "hits", "root", "response", "error")


def read_results(
    source: Path | Mapping[str, Any] | list[Any],
    queries: str | Sequence[str | int] | None = None,
    *,
    document: str | None = None,
    with_index: bool = False,
    partial: str = "error",
    duplicates: DuplicateChoice = "error",
    name: str = "run",
) -> Run:
    """Read the results of a search engine.

    Parameters
    ----------
    source : path, binary file or JSON value
        One of these, plain or compressed; the contents say which.

        - A response of Elasticsearch's or OpenSearch's ``_rank_eval``, which names its queries.
        - A response of ``_search`` or ``_msearch``, a result of Vespa in its default format, or a response of Solr.
        - An array of such responses.
    queries : sequence of str or int, or str, optional
        The query of each response, in order; for one response, its query. Not for ``_rank_eval``.
    document : str, optional
        The key of a hit that identifies its document, with dots: "fields.sku". By default "_id", and "id" for Vespa
        and Solr.
    with_index : bool
        Whether a document of Elasticsearch or OpenSearch is named "index/id", as in `read_judgments`.
    partial : "error" or "keep"
        The treatment of a response that is not whole, because a search timed out, shards failed or not all documents
        were searched: its query would be evaluated with too few hits. "keep" reads the hits that there are.
    duplicates : "error", "first", "last" or "highest"
        The treatment of a document that occurs twice for a query, such as hits that are chunks of one document: the
        first, the last or the highest score counts.
    name : str
        The name of the run.

    Returns
    -------
    Run
        Equal scores tie, although a search engine lists one of the documents first.

    Raises
    ------
    InputError
        If the file cannot be read or has none of these forms, a search failed or is partial, a hit has no score, or a
        document occurs twice for a query. The message names the file, and the path inside the JSON.

    Examples
    --------
    >>> from tieaware.integrations import search_engines
    >>> hits = [{"_index": "shop", "_id": "a", "_score": 7.5}, {"_index": "shop", "_id": "b", "_score": 7.5}]
    >>> search_engines.read_results({"hits": {"hits": hits}}, "red dress").to_dict()
    {'red dress': {'a': 7.5, 'b': 7.5}}
    """
    one_of("partial", partial, ("error", "keep"))
    one_of("duplicates", duplicates, get_args(DuplicateChoice))
    results = _json_of(source, "source")
    rank_eval = results.child("rank_eval") or results
    if rank_eval.child("details") is not None:
        if queries is not None:
            raise InputError("queries", "must not be given: a response of _rank_eval names its queries")
        pairs: list[tuple[str | int, _Value]] = list(_of_rank_eval(rank_eval))
    else:
        pairs = _named(list(_responses(results)), queries)
    run: dict[str | int, dict[str | int, float]] = {}
    for query, response in pairs:
        if query in run:
            raise InputError("queries", f"names {shown(query)} twice")
        if partial == "error":
            _check_whole(response)
        run[query] = _scores(response, document, with_index, duplicates)
    return Run.from_dict(run, name=name)


def _of_rank_eval(response: _Value) -> Iterator[tuple[str, _Value]]:
    """Yield the queries of a response of _rank_eval, with their entries."""
    failures = response.child("failures")
    for query, failure in failures.members() if failures is not None else ():
        raise InputError(failure.place, f"the search of {shown(query)} failed, so its hits are missing")
    yield from response["details"].members()


def _responses(results: _Value) -> Iterator[_Value]:
    """Yield the responses to single queries."""
    for each in results.elements() if isinstance(results.value, list) else (results,):
        if each.child("responses") is not None:
            yield from each["responses"].elements()
        elif any(each.child(key) is not None for key in _KEYS):
            yield each
        else:
            keys = ", ".join(map(repr, ("details", *_KEYS)))
            raise InputError(each.place, f"these are no results in a known form: there is none of the keys {keys}")


def _named(responses: list[_Value], queries: Any) -> list[tuple[str | int, _Value]]:
    """Return the responses with their queries."""
    given = () if queries is None else (queries,) if isinstance(queries, str) else sequence("queries", queries, "names")
    names = [_Value(name, f"queries[{i}]").identifier() for i, name in enumerate(given)]
    if len(names) != len(responses):
        problem = f"must name the query of each response: there are {len(responses)} responses and {len(names)} names"
        raise InputError("queries", problem)
    return list(zip(names, responses, strict=True))


def _check_whole(response: _Value) -> None:
    """Raise InputError if a response says that it lacks hits."""
    for path, expected in _WHOLE.items():
        found: _Value | None = response
        for key in path.split("."):
            found = found and found.child(key)
        if found is not None and found.value != expected:
            remedy = "partial='keep' reads the hits that there are"
            raise InputError(found.place, f"is {shown(found.value)}, so hits may be missing; {remedy}")


def _scores(
    response: _Value, document: str | None, with_index: bool, duplicates: DuplicateChoice
) -> dict[str | int, float]:
    """Return the scores of the hits of one query. `duplicates` is that of `read_results`."""
    error = response.child("error")
    if error is not None:
        raise InputError(error.place, f"the search failed: {shown(error.value)}")
    scores: dict[str | int, float] = {}
    root, solr = response.child("root"), response.child("response")
    hits = _vespa_hits(root) if root else _solr_hits(solr) if solr else _elastic_hits(response)
    for hit, score in hits:
        if document is not None or root or solr:
            found = hit
            for key in (document or "id").split("."):
                found = found[key]
            identifier = found.identifier()
        else:
            identifier = _document_name(hit, with_index)
        if identifier in scores and duplicates == "error":
            hint = "" if with_index or hit.child("_index") is None else "; with_index=True tells indices apart"
            keep = "duplicates='highest' keeps its highest score"
            raise InputError(hit.place, f"the document {shown(identifier)} occurs twice: {keep}{hint}")
        if score.value is None:
            raise InputError(score.place, "the hit has no score: hits that are sorted by a field have none")
        number = score.number()
        if identifier in scores:
            earlier = scores[identifier]
            number = {"first": earlier, "last": number, "highest": max(earlier, number)}[duplicates]
        scores[identifier] = number
    return scores


def _elastic_hits(response: _Value) -> Iterator[tuple[_Value, _Value]]:
    """Yield the hits of _search, or of a query of _rank_eval, with their scores."""
    hits = response["hits"]
    rated = isinstance(hits.value, list)
    for each in (hits if rated else hits["hits"]).elements():
        hit = each["hit"] if rated else each
        yield hit, hit["_score"]


def _solr_hits(response: _Value) -> Iterator[tuple[_Value, _Value]]:
    """Yield the documents of a response of Solr with their scores, which must be among the fields: fl=id,score."""
    for hit in response["docs"].elements():
        yield hit, hit["score"]


def _vespa_hits(root: _Value) -> Iterator[tuple[_Value, _Value]]:
    """Yield the hits of a result of Vespa with their scores, without the groups of a grouping."""
    errors = root.child("errors")
    if errors is not None and errors.value:
        raise InputError(errors.place, f"the search failed: {shown(errors.value)}")
    children = root.child("children")
    for hit in children.elements() if children is not None else ():
        identifier = hit.child("id")
        if identifier is None or not (isinstance(identifier.value, str) and identifier.value.startswith("group:")):
            yield hit, hit["relevance"]
