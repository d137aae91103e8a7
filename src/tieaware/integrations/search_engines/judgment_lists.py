"""Judgments of search engines and their tools."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tieaware.checks.arguments import shown
from tieaware.errors import InputError
from tieaware.inputs import Qrels
from tieaware.inputs.files.byte_streams import ByteStream
from tieaware.inputs.files.paths import Path, source_name, suffix_of
from tieaware.inputs.files.text import Lines
from tieaware.integrations.search_engines.json_values import Value, json_of

# The columns of Quepid's exports, in lower case: of the short and of the long one.
_QUERY, _DOCUMENT, _RATING = ("query", "query text"), ("docid", "doc id"), ("rating",)


class Rating(NamedTuple):
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
    judgments = json_of(source, "source")
    for key, read in _READERS.items():
        if judgments.child(key) is not None:
            return _qrels(read(judgments, with_index))
    keys = ", ".join(map(repr, _READERS))
    raise InputError(judgments.place, f"these are no judgments in a known form: there is none of the keys {keys}")


def _qrels(ratings: Iterator[Rating]) -> Qrels:
    labels: dict[str | int, dict[str | int, float]] = {}
    for rating in ratings:
        of_query = labels.setdefault(rating.query, {})
        if of_query.setdefault(rating.document, rating.label) != rating.label:
            first = of_query[rating.document]
            problem = f"has the ratings {first:g} and {rating.label:g} for {shown(rating.query)}"
            raise InputError(rating.place, f"the document {shown(rating.document)} {problem}")
    return Qrels.from_dict(labels)


def _from_rank_eval(judgments: Value, with_index: bool) -> Iterator[Rating]:
    for request in judgments["requests"].elements():
        query = request["id"].identifier()
        for rated in request["ratings"].elements():
            document = document_name(rated, with_index)
            yield Rating(query, document, rated["rating"].number(), rated.place)


def document_name(document: Value, with_index: bool) -> str | int:
    """Return the identifier of a document or hit: its ``_id``, or "index/id"."""
    name = document["_id"].identifier()
    return f"{document['_index'].identifier()}/{name}" if with_index else name


def _from_workbench(judgments: Value, _: bool) -> Iterator[Rating]:
    """Read a judgment list: [{"query": …, "ratings": […]}], or {query: […]} of the first versions."""
    lists = judgments["judgmentRatings"]
    if isinstance(lists.value, Mapping):
        pairs = [(query, ratings) for query, ratings in lists.members()]
    else:
        pairs = [(str(each["query"].identifier()), each["ratings"]) for each in lists.elements()]
    for query, ratings in pairs:
        for rated in ratings.elements():
            yield Rating(query, rated["docId"].identifier(), rated["rating"].number(), rated.place)


def _from_shown_list(response: Value, with_index: bool) -> Iterator[Rating]:
    """Read the response that shows a judgment list: a search hit whose source is the list."""
    hits = list(response["hits"]["hits"].elements())
    if len(hits) != 1:
        raise InputError(response["hits"]["hits"].place, f"must be one judgment list; there are {len(hits)}")
    return _from_workbench(hits[0]["_source"], with_index)


def _from_quepid(judgments: Value, _: bool) -> Iterator[Rating]:
    """Read ratings or a case, {document: rating}, or ratings for Rated Ranking Evaluator, {rating: [documents]}."""
    for each in judgments["queries"].elements():
        if each.child("relevant_documents") is not None:
            query = each["placeholders"]["$query"].identifier()
            for rating, documents in each["relevant_documents"].members():
                label = Value(rating, documents.source, documents.path).number()
                for document in documents.elements():
                    yield Rating(query, document.identifier(), label, document.place)
            continue
        query = (each.child("query_text") or each["query"]).identifier()
        # A query without a rating has none, or an empty array.
        ratings = each.child("ratings")
        for name, rated in ratings.members() if ratings is not None and ratings.value else ():
            if rated.value is not None:
                yield Rating(query, name, rated.number(), rated.place)


def _from_csv(path: Path) -> Iterator[Rating]:
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
                yield Rating(query, document, Value(rating, place).number(), place)
    except csv.Error as error:
        raise InputError(f"{name}:{lines.line_num}", f"this is not CSV: {error}") from None


_READERS: dict[str, Callable[[Value, bool], Iterator[Rating]]] = {
    "requests": _from_rank_eval,
    "judgmentRatings": _from_workbench,
    "hits": _from_shown_list,
    "queries": _from_quepid,
}
