"""Queries with phrases and with AND, OR and NOT, which filter the documents that any method finds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.errors import InputError
from tieaware.retrieval.index import Index, Query, as_index
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.proximity import position_starts

# The documents that match: bool[n_documents].
_Mask: TypeAlias = NDArray[np.bool_]

_TOKEN = re.compile(r'"(?P<phrase>[^"]*)"|(?P<mark>[()"])|(?P<word>[^\s()"]+)')
_OPERATORS = ("AND", "OR", "NOT")
# The greatest number of parentheses and NOTs inside one another, so that the parser cannot exhaust the stack.
_DEEPEST = 100
# The greatest number of words in a phrase: each of them takes a pass over its places in the index.
_LONGEST_PHRASE = 1000
_OPERAND = "a word, a phrase, NOT or ("


def parse_query(index: Index, text: str) -> Query:
    """Return a query that ranks by its words, and lets methods find only the documents that match its expressions.

    ``"boundary layer"`` in double quotes is a phrase: a document matches if it contains these words one after another.
    ``AND``, ``OR`` and ``NOT`` in capitals, and parentheses, combine words and phrases; NOT binds more tightly than
    AND, and AND more tightly than OR. The text may have several parts side by side. A part that is a single word does
    not filter. A document must match all other parts: ``flow "boundary layer" NOT supersonic`` finds documents with the
    phrase but without the word after NOT.

    All words rank, those of phrases too, except those that are excluded by NOT. As for any query, a document must
    contain one of the ranking words to be found. A text of plain words is the same query as `Index.query` makes of it.

    Parameters
    ----------
    index : Index
        An index with an analyzer. Phrases need positions.
    text : str
        The query. Words are analysed as the documents are. Operands without terms, such as stop words, are left out; a
        word that the analyzer splits stands for all of its terms. Stop words do not count in phrases, and a phrase may
        begin in one zone of a document and end in the next.

    Returns
    -------
    Query
        The terms, and in `documents` the documents that may be found. `Exact`, `MaxScore`, `WAND` and `BlockMaxWAND`
        score only these. Other methods search deeper until they have found K of them: for K documents, then for 8 K,
        64 K and so on, and all searches count as costs.

    Raises
    ------
    InputError
        The text is not a well-formed query; the message names the position of the character, from 1. Or the index has
        no analyzer, or the text has a phrase and the index has no positions.

    Examples
    --------
    >>> from tieaware.retrieval import Exact
    >>> documents = [("d1", "no tie rank"), ("d2", "tie and rank"), ("d3", "tie rank list"), ("d4", "a tie rank")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> queries = {"q": parse_query(index, '"tie rank" NOT (list OR no)')}
    >>> run = Exact(weighting="nnn.nnn").search(index, queries)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d4'], [2.0])
    >>> parse_query(index, "tie AND")
    Traceback (most recent call last):
    tieaware.errors.InputError: query, character 8: expected a word, a phrase, NOT or (, found the end
    """
    if not isinstance(text, str):
        raise unexpected("query", "text", shown(text))
    as_index(index)
    tokens = _tokens(text)
    if all(token.kind == "word" for token in tokens[:-1]):
        return index.query(text)
    parts = _Parser(tokens).parts()
    terms = _Terms(index)
    query = index.query(terms.ranking(parts))
    mask = terms.combined(np.logical_and, (part for part in parts if part.kind != "word"))
    return query if mask is None else query._replace(documents=np.flatnonzero(mask).astype(np.int32))


class _Token(NamedTuple):
    """A part of the text; `kind` is "word", "phrase", "end", an operator or a parenthesis."""

    kind: str
    text: str
    # The number of the first character, from 1.
    at: int

    def error(self, expected: str) -> InputError:
        """Return an error for this token."""
        found = {"word": shown(self.text), "phrase": shown(self.text), "end": "the end"}.get(self.kind, self.text)
        return unexpected(f"query, character {self.at}", expected, found)


def _tokens(text: str) -> list[_Token]:
    """Split a text into tokens; the last one is its end."""
    tokens = []
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        found = match[kind]
        at = match.start(kind) + 1 - (kind == "phrase")
        if found == '"' and kind == "mark":
            raise InputError(f"query, character {at}", 'this " begins a phrase that has no second "')
        is_operator = kind == "word" and found in _OPERATORS
        tokens.append(_Token(found if is_operator or kind == "mark" else kind, found, at))
    return [*tokens, _Token("end", "", len(text) + 1)]


class _Node(NamedTuple):
    """A part of a query: a "word" or a "phrase" with its text, or "AND", "OR" or "NOT" with the parts it combines."""

    kind: str
    text: str = ""
    operands: tuple[_Node, ...] = ()


class _Parser:
    """A parser by recursive descent; each function reads one rule of the grammar.

    parts       = { disjunction }
    disjunction = conjunction { "OR" conjunction }
    conjunction = factor { "AND" factor }
    factor      = "NOT" factor | "(" disjunction ")" | phrase | word
    """

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._next, self._depth = tokens, 0, 0

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def parts(self) -> list[_Node]:
        """Return the parts that stand side by side."""
        parts = []
        while self._token.kind != "end":
            parts.append(self._disjunction())
        return parts

    def _disjunction(self) -> _Node:
        operands = [self._conjunction()]
        while self._take("OR"):
            operands.append(self._conjunction())
        return operands[0] if len(operands) == 1 else _Node("OR", operands=tuple(operands))

    def _conjunction(self) -> _Node:
        operands = [self._factor()]
        while self._take("AND"):
            operands.append(self._factor())
        return operands[0] if len(operands) == 1 else _Node("AND", operands=tuple(operands))

    def _factor(self) -> _Node:
        token = self._token
        if token.kind in ("word", "phrase"):
            self._next += 1
            return _Node(token.kind, token.text)
        if token.kind not in ("NOT", "("):
            raise token.error(_OPERAND)
        self._next += 1
        self._depth += 1
        if self._depth > _DEEPEST:
            problem = f"more than {_DEEPEST} parentheses or NOTs inside one another"
            raise InputError(f"query, character {token.at}", problem)
        node = _Node("NOT", operands=(self._factor(),)) if token.kind == "NOT" else self._disjunction()
        if token.kind == "(" and not self._take(")"):
            raise self._token.error("AND, OR or )")
        self._depth -= 1
        # A word in parentheses is an expression, so it filters.
        return _Node("AND", operands=(node,)) if node.kind == "word" else node

    def _take(self, kind: str) -> bool:
        """Move past the current token if it is of this kind; return whether it was."""
        is_it = self._token.kind == kind
        self._next += is_it
        return is_it


class _Terms:
    """The documents of an index that match the parts of a query."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def ranking(self, parts: Iterable[_Node], *, excluded: bool = False) -> list[str]:
        """Return the terms by which documents are ranked: all but those that NOT excludes."""
        found: list[str] = []
        for part in parts:
            if part.operands:
                found += self.ranking(part.operands, excluded=excluded != (part.kind == "NOT"))
            elif not excluded:
                found += self._analysed(part.text)
        return found

    def _analysed(self, text: str) -> list[str]:
        if self._index.analyzer is None:
            raise InputError("query", "must be a sequence of terms: the index has no analyzer that splits text")
        return list(self._index.analyzer(text))

    def mask(self, part: _Node) -> _Mask | None:
        """Return which documents match; None if the part has no terms."""
        if not part.operands:
            return self._containing(part)
        mask = self.combined(np.logical_or if part.kind == "OR" else np.logical_and, part.operands)
        return ~mask if mask is not None and part.kind == "NOT" else mask

    def combined(self, operation: np.ufunc, parts: Iterable[_Node]) -> _Mask | None:
        """Combine the masks of parts, with only two masks in memory at a time; None if no part has terms."""
        masks = (mask for mask in map(self.mask, dict.fromkeys(parts)) if mask is not None)
        return reduce(operation, masks, next(masks, None))

    def _containing(self, part: _Node) -> _Mask | None:
        terms = self._analysed(part.text)
        if not terms:
            return None
        mask = np.zeros(len(self._index), bool)
        query = self._index.query(terms)
        if int(query.frequencies.sum()) == len(terms):
            mask[containing(self._index, query.terms)] = True
        if part.kind == "phrase" and len(terms) > 1:
            if len(terms) > _LONGEST_PHRASE:
                raise InputError("query", f"a phrase of {len(terms):,} words is longer than {_LONGEST_PHRASE:,} words")
            numbers = [int(self._index.query([term]).terms[0]) for term in terms] if mask.any() else []
            mask[:] = False
            mask[containing_phrase(self._index, numbers)] = True
        return mask


def containing(index: Index, terms: Iterable[int]) -> Numbers:
    """Return the documents that contain all of the terms, ascending."""
    postings = index.postings
    lists = [postings.documents[postings.starts[term] : postings.starts[term + 1]] for term in terms]
    common: Numbers = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), sorted(lists, key=len))
    return common


def containing_phrase(index: Index, terms: list[int]) -> Numbers:
    """Return the documents that contain the terms one after another, ascending; there may be no terms.

    For each term, the places where the phrase would begin are the term's positions, minus its own place in the phrase.
    The phrase begins at the places that all terms have in common.
    """
    starts, postings = position_starts(index), index.postings
    assert postings.positions is not None
    if not terms:
        return np.empty(0, np.int32)
    documents = containing(index, set(terms))
    # A number for each place of each document. The places of a phrase begin with -(len(terms) - 1).
    width = int(postings.lengths.max()) + len(terms)
    common = None
    for i, term in enumerate(terms):
        first = postings.starts[term]
        listed = postings.documents[first : postings.starts[term + 1]]
        rows = first + np.flatnonzero(np.isin(listed, documents, assume_unique=True))
        counts = starts[rows + 1] - starts[rows]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places = postings.positions[np.repeat(starts[rows], counts) + within] + (len(terms) - 1 - i)
        keys = np.repeat(postings.documents[rows].astype(np.int64), counts) * width + places
        common = keys if common is None else np.intersect1d(common, keys, assume_unique=True)
    assert common is not None
    return np.intersect1d(documents, common // width)
