"""The index: documents, terms, and the postings between them."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tieaware.checks.arguments import flag, shown, unexpected
from tieaware.checks.arrays import Integers, Offsets, Values, as_integers, as_offsets, check_no_nan, first
from tieaware.checks.arrays import as_scores as as_numbers
from tieaware.errors import InputError
from tieaware.kernels import _postings, _query_terms
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.sparse import Entries
from tieaware.output.tables import counted
from tieaware.retrieval import index_file
from tieaware.retrieval.analysis import Analysis, Analyzer
from tieaware.retrieval.collections import Format
from tieaware.retrieval.postings import LARGEST, Numbers, Postings, postings_of

T = TypeVar("T")

ZONES = ("title", "body")


class Query(NamedTuple):
    """A query as numbers of the terms of an index.

    Attributes
    ----------
    terms : int64[n]
        The numbers of the query's terms, each once, ascending. Terms that are not in the index are left out.
    frequencies : int64[n]
        How often each term occurs in the query; 0 for a term that query expansion added.
    weights : float64[n] or None
        The weight of each term in an expanded query; None if the weighting determines the weights.
    documents : int32[m] or None
        The numbers of the documents that a method may find, ascending; None for all. `parse_query` makes such a filter.
    unknown : int
        How many words of the query are not terms of the index.
    """

    terms: Integers
    frequencies: Integers
    weights: Values | None = None
    documents: Numbers | None = None
    unknown: int = 0


class QueryTerms(NamedTuple):
    """The terms of several queries, concatenated: those of query ``i`` are ``terms[offsets[i]:offsets[i + 1]]``."""

    terms: Integers
    frequencies: Integers
    offsets: Offsets

    @classmethod
    def of(cls, queries: Sequence[Query]) -> QueryTerms:
        """Concatenate the terms of the queries."""
        offsets = np.cumsum([0, *(len(query.terms) for query in queries)], dtype=np.int64)
        nothing = np.empty(0, np.int64)
        terms = np.concatenate((nothing, *(query.terms for query in queries)))
        return cls(terms, np.concatenate((nothing, *(query.frequencies for query in queries))), offsets)

    @property
    def sizes(self) -> Integers:
        """The number of terms of each query."""
        return self.offsets[1:] - self.offsets[:-1]

    def sums(self, values: Values | Integers) -> Values:
        """Return the sum of a value of each term for each query, added one after the other."""
        return _query_terms.sums(values.astype(np.float64, copy=False), self.offsets)


class Index:
    """An inverted index in memory, made by `Index.build`, `Index.from_tokens`, `Index.from_matrix` or `Index.load`.

    Attributes
    ----------
    documents : Identifiers
        The ids of the documents. The number of a document is its position in this sequence.
    terms : list of str
        The terms. The number of a term is its position in this list.
    postings : Postings
        The postings of whole documents: all zones of a document, concatenated.
    zones : dict of str to Postings
        The postings of each zone; empty if the documents have no zones.
    quality : float64[n_documents] or None
        The static quality of each document, at least 0.
    analyzer : callable or None
        The function that turns a text into terms.
    format : str or None
        The format of the files of the documents, as in `read_documents`, if `tieaware index` built the index; a file
        keeps it. `read_topics` takes it, because topics do not always show theirs.

    Examples
    --------
    >>> index = Index.build([("d1", "Boundary layers"), ("d2", "A layer of a boundary"), ("d3", "Flow")])
    >>> index.terms, index.postings.documents.tolist()
    (['boundari', 'layer', 'flow'], [0, 1, 0, 1, 2])
    >>> index
    Index(3 documents, 3 terms, 5 postings)
    """

    def __init__(
        self, documents: Identifiers, terms: list[str], postings: Postings, zones: dict[str, Postings],
        quality: Values | None, analyzer: Analysis | None, format: Format | None = None,
    ) -> None:  # fmt: skip
        self.documents = documents
        self.terms = terms
        self.postings: Postings = replace(postings, terms=terms)
        self.zones = zones
        self.quality = quality
        self.analyzer = analyzer
        self.format = format
        self._numbers = {term: number for number, term in enumerate(terms)}
        self._prepared: dict[Hashable, Any] = {}
        self._preparing = RLock()

    @classmethod
    def build(
        cls, documents: Iterable[tuple[object, str | Mapping[str, str]]], *, analyzer: Analysis | None = None,
        zones: Sequence[str] = ZONES, quality: ArrayLike | Mapping[Any, float] | None = None, positions: bool = True,
    ) -> Index:  # fmt: skip
        """Build an index from texts.

        Parameters
        ----------
        documents : iterable of (id, str) or of (id, {zone: str})
            The documents with their ids. The iterable is read once. Either all documents have zones, or none has.
        analyzer : callable, optional
            Takes a text and returns its terms, in their order. The default is an `Analyzer`, which stems English and
            needs `tieaware[retrieval]`.
        zones : sequence of str
            The zones that documents may have, in the order in which they are concatenated. A document may lack zones.
        quality : float[n_documents] or mapping of ids to float, optional
            The static quality of each document, at least 0. `NetScore` adds it to the score, so the scale matters: the
            book takes qualities from 0 to 1, like its cosine scores.
        positions : bool
            Whether to store the positions of the tokens, which `smallest_windows` needs: 4 bytes a token.

        Returns
        -------
        Index
            The index. It takes 8 bytes for each posting, besides the positions.

        Raises
        ------
        InputError
            A document has neither of the two forms, has an unknown zone, or has the id of an earlier document; or a
            quality is missing, negative or infinite. The message names the document.

        Examples
        --------
        >>> documents = [("d1", {"title": "layers", "body": "of a flow"}), ("d2", {"body": "flow layers"})]
        >>> index = Index.build(iter(documents), analyzer=str.split)
        >>> index.terms, index.zones["title"].documents.tolist()
        (['layers', 'of', 'a', 'flow'], [0])
        """
        texts = _Texts(_checked_zones(zones), _analysis(analyzer))
        for document in documents:
            texts.add(document)
        names = _documents(texts.names)
        quality = _quality(quality, names)
        whole, by_zone = texts.postings(flag("positions", positions))
        return cls(names, list(texts.numbers), whole, by_zone, quality, texts.analyzer)

    @classmethod
    def from_tokens(
        cls, tokens: Iterable[Iterable[int]] | tuple[ArrayLike, ArrayLike], terms: Iterable[str], *,
        documents: Iterable[object] | None = None, analyzer: Analysis | None = None,
        quality: ArrayLike | Mapping[Any, float] | None = None, positions: bool = True,
    ) -> Index:  # fmt: skip
        """Build an index from documents that are sequences of term numbers.

        Other parameters, and errors, as for `build`.

        Parameters
        ----------
        tokens : sequence of sequences of int, or (int[n_tokens], int64[n_documents + 1])
            The term numbers of each document; or the term numbers of all documents in one array, and the offset at
            which each document begins.
        terms : iterable of str
            The distinct terms. The first has the number 0.
        documents : iterable of str, bytes or int, optional
            The ids of the documents; by default 0, 1, ….
        analyzer : callable, optional
            Takes the text of a query and returns its terms. Without an analyzer, queries must be sequences of terms.

        Examples
        --------
        >>> index = Index.from_tokens([[0, 1, 0], [1]], ["boundary", "layer"])
        >>> index.postings.frequencies.tolist(), index.documents.to_list()
        ([2, 1, 1], [0, 1])
        """
        listed = _terms(terms)
        flat, offsets = _flat(tokens)
        names = _documents(range(len(offsets) - 1) if documents is None else documents, len(offsets) - 1)
        postings = postings_of(flat, offsets, len(listed), positions=flag("positions", positions))
        return cls(names, listed, postings, {}, _quality(quality, names), analyzer)

    @classmethod
    def from_matrix(
        cls, matrix: Any, *, documents: Iterable[object] | None = None, terms: Iterable[str] | None = None,
        analyzer: Analysis | None = None, quality: ArrayLike | Mapping[Any, float] | None = None,
    ) -> Index:  # fmt: skip
        """Build an index without positions from a matrix of documents × terms, as of scikit-learn's CountVectorizer.

        Other parameters as for `from_tokens`.

        Parameters
        ----------
        matrix : sparse matrix in CSR form
            How often each term occurs in each document: any object with ``indptr``, ``indices``, ``data`` and
            ``shape``.
        terms : iterable of str, optional
            The distinct terms of the columns; by default "0", "1", ….

        Raises
        ------
        InputError
            The matrix is not in CSR form, has two entries for one cell, has an entry that is not a count, or does not
            have one row for each document and one column for each term.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> index = Index.from_matrix(csr_array(np.array([[2, 0], [1, 1]])), terms=["boundary", "layer"])
        >>> index.postings.frequencies.tolist()
        [2, 1, 1]
        """
        entries = Entries.of(matrix, "matrix")
        n_documents, n_terms = entries.shape
        if max(n_documents, n_terms) > LARGEST:
            raise unexpected("matrix.shape", f"at most {LARGEST:,} documents and terms", shown(entries.shape))
        listed = _terms(map(str, range(n_terms)) if terms is None else terms, n_terms)
        names = _documents(range(n_documents) if documents is None else documents, n_documents)
        counts = _counts(matrix, entries)
        kept = counts > 0
        offsets = np.concatenate(([0], np.cumsum(kept)))[entries.offsets]
        columns, counts = entries.columns[kept].astype(np.int32), counts[kept]
        postings = Postings(
            *_postings.transposed(offsets, columns, counts.astype(np.int32), n_terms),
            lengths=_lengths(counts, offsets),
        )
        return cls(names, listed, postings, {}, _quality(quality, names), analyzer)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, analyzer: Analysis | None = None) -> Index:
        """Read an index that `save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
        analyzer : callable, optional
            The analyzer that the index was built with. Needed only if it was not an `Analyzer`, because the file cannot
            store another callable.

        Returns
        -------
        Index
            An index that needs the file no longer.

        Raises
        ------
        InputError
            The file cannot be read, is truncated or damaged, or was written by a later version.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "layers.index")
        ...     Index.build([("d1", "layers"), ("d2", "layers")]).save(path)
        ...     Index.load(path)
        Index(2 documents, 1 term, 2 postings)
        """
        content = index_file.read(path)
        return cls(*content if analyzer is None else content._replace(analyzer=_analysis(analyzer)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file; an error or a crash leaves no incomplete file.

        An existing file is replaced. Path and errors as for `load`, which reads the file.
        """
        index_file.write(index_file.Content(*self._content), path)

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        documents, terms = counted(len(self), "document"), counted(len(self.terms), "term")
        return f"Index({documents}, {terms}, {counted(len(self.postings), 'posting')})"

    @property
    def _content(self) -> tuple[Any, ...]:
        return self.documents, self.terms, self.postings, self.zones, self.quality, self.analyzer, self.format

    def __reduce__(self) -> tuple[Any, ...]:
        return Index, self._content

    def query(self, text: str | Iterable[str]) -> Query:
        """Convert a query to term numbers, and leave out terms that are not in the index.

        Parameters
        ----------
        text : str, or iterable of str
            Text, which is analysed in the same way as the documents, or terms.

        Returns
        -------
        Query

        Raises
        ------
        InputError
            The query is text although the index has no analyzer, or it is neither text nor terms.

        Examples
        --------
        >>> index = Index.build([("d1", "Boundary layers"), ("d2", "Layers tie")])
        >>> index.query("A layer upon the layers of a boundary, said twice")
        Query(terms=array([0, 1]), frequencies=array([1, 2]), weights=None, documents=None, unknown=3)
        """
        terms = self._analysed(text)
        try:
            numbers = [self._numbers.get(term, -1) for term in terms]
        except TypeError:
            raise unexpected("query", "text or a sequence of terms", shown(text)) from None
        known = [number for number in numbers if number >= 0]
        distinct, frequencies = np.unique(np.array(known, np.int64), return_counts=True)
        return Query(distinct, frequencies, unknown=len(numbers) - len(known))

    def _analysed(self, text: str | Iterable[str]) -> Iterable[str]:
        if not isinstance(text, str):
            return text
        if self.analyzer is None:
            raise InputError("query", "must be a sequence of terms: the index has no analyzer that splits text")
        return self.analyzer(text)

    def prepared(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return the object with this name in the index's cache of derived data, such as weights or champion lists.

        Parameters
        ----------
        name : hashable
            It must include all parameters on which the object depends.
        make : callable
            It makes the object if the cache lacks it, and is called at most once for each name.

        Returns
        -------
        object
        """
        with self._preparing:
            if name not in self._prepared:
                self._prepared[name] = make()
            made: T = self._prepared[name]
            return made


class _Texts:
    """The ids and the term numbers of the documents added so far, for whole documents and for each zone."""

    def __init__(self, zones: tuple[str, ...], analyzer: Analysis) -> None:
        self.zones, self.analyzer = zones, analyzer
        self.names: list[object] = []
        self.numbers: dict[str, int] = {}
        self._whole = _Tokens()
        self._zones: dict[str, _Tokens] | None = None

    def add(self, document: Any) -> None:
        """Add a document: (id, text) or (id, {zone: text})."""
        where = f"documents[{len(self.names)}]"
        if not isinstance(document, tuple | list) or len(document) != 2:
            raise unexpected(where, "(id, text) or (id, {zone: text})", shown(document))
        name, text = document
        if not self.names and isinstance(text, Mapping):
            self._zones = {zone: _Tokens() for zone in self.zones}
        if self._zones is None:
            self._whole.extend(self._analysed(text, where))
        else:
            self._add_zones(text, self._zones, where)
        self._whole.end_document()
        self.names.append(name)

    def _add_zones(self, text: Any, tokens_by_zone: dict[str, _Tokens], where: str) -> None:
        if not isinstance(text, Mapping):
            raise InputError(where, f"must have zones, as the documents before it have; found {shown(text)}")
        for zone in text:
            if zone not in tokens_by_zone:
                raise InputError(where, f"unknown zone {shown(zone)}; the zones are {', '.join(self.zones)}")
        for zone, tokens in tokens_by_zone.items():
            added = self._analysed(text.get(zone, ""), f"{where}[{zone!r}]")
            tokens.extend(added)
            tokens.end_document()
            self._whole.extend(added)

    def _analysed(self, text: Any, where: str) -> list[int]:
        if not isinstance(text, str):
            raise unexpected(where, "text", shown(text))
        numbers = self.numbers
        return [numbers.setdefault(term, len(numbers)) for term in self.analyzer(text)]

    def postings(self, positions: bool) -> tuple[Postings, dict[str, Postings]]:
        """Return the postings of whole documents, and of each zone."""
        n_terms = len(self.numbers)
        tokens_by_zone = {} if self._zones is None else self._zones
        return self._whole.postings(n_terms, positions), {
            zone: tokens.postings(n_terms, positions) for zone, tokens in tokens_by_zone.items()
        }


class _Tokens:
    """The term numbers of documents, one document after another."""

    def __init__(self) -> None:
        self.numbers, self.ends = array("i"), array("q", [0])
        self.extend = self.numbers.extend

    def end_document(self) -> None:
        """Mark the end of the current document."""
        self.ends.append(len(self.numbers))

    def postings(self, n_terms: int, positions: bool) -> Postings:
        """Return the postings of the documents added so far."""
        tokens = np.frombuffer(self.numbers, np.int32) if self.numbers else np.empty(0, np.int32)
        return postings_of(tokens, np.frombuffer(self.ends, np.int64), n_terms, positions=positions)


def as_index(value: Any) -> Index:
    """Check that an argument is an index, and return it."""
    if not isinstance(value, Index):
        raise unexpected("index", "a tieaware.retrieval.Index", shown(value))
    return value


def as_queries(queries: Any, index: Index) -> dict[Any, Query]:
    """Check that queries are a mapping of ids to text, terms or queries, and return all as queries."""
    if not isinstance(queries, Mapping):
        raise unexpected("queries", "a mapping of ids to queries", shown(queries))
    checked = as_index(index)
    return {name: each if isinstance(each, Query) else checked.query(each) for name, each in queries.items()}


def _analysis(analyzer: Any) -> Analysis:
    if analyzer is None:
        return Analyzer()
    if not callable(analyzer):
        raise unexpected("analyzer", "a callable that returns the terms of a text", shown(analyzer))
    return analyzer  # type: ignore[no-any-return]


def _checked_zones(zones: Any) -> tuple[str, ...]:
    if isinstance(zones, str) or not isinstance(zones, Iterable):
        raise unexpected("zones", "a sequence of names", shown(zones))
    listed = tuple(zones)
    for i, zone in enumerate(listed):
        if not isinstance(zone, str) or not zone or zone in listed[:i]:
            raise unexpected(f"zones[{i}]", "a name that is not empty and appears once", shown(zone))
    return listed


def _documents(names: Iterable[object], n: int | None = None) -> Identifiers:
    """Return the ids of documents; raise InputError if two are equal, or if n is given and there are not n ids."""
    documents = Identifiers.from_sequence(list(names), "documents")
    if n is not None and len(documents) != n:
        raise unexpected("documents", f"{n} ids, one for each document", f"{len(documents)}")
    seen: dict[bytes, int] = {}
    for i, name in enumerate(documents):
        if seen.setdefault(name, i) != i:
            raise InputError(f"documents[{i}]", f"has the same id as documents[{seen[name]}]: {quoted(name)}")
    return documents


def _terms(terms: Iterable[str], n: int | None = None) -> list[str]:
    """Return the terms as a list; raise InputError if two are equal, or if n is given and there are not n terms."""
    listed = list(terms)
    if n is not None and len(listed) != n:
        raise unexpected("terms", f"{n} terms, one for each column", f"{len(listed)}")
    seen: set[str] = set()
    for i, term in enumerate(listed):
        if not isinstance(term, str) or term in seen:
            raise unexpected(f"terms[{i}]", "text that is not the same as an earlier term", shown(term))
        seen.add(term)
    return listed


def _flat(tokens: Any) -> tuple[Any, Any]:
    """Return copies of the tokens of all documents, as int32, and of the offsets of the documents."""
    if isinstance(tokens, tuple) and len(tokens) == 2 and all(hasattr(each, "dtype") for each in tokens):
        flat = as_integers(tokens[0], "tokens[0]")
        offsets = as_offsets(tokens[1], len(flat), "tokens[1]", "tokens").copy()
    else:
        lists = [list(each) for each in tokens]
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        flat = as_integers([token for each in lists for token in each], "tokens")
    if len(flat) and not 0 <= flat.min() <= flat.max() <= LARGEST:
        i = int(((flat < 0) | (flat > LARGEST)).argmax())
        raise unexpected(f"tokens[{i}]", "the number of a term, from 0", str(flat[i]))
    return flat.astype(np.int32), offsets


def _counts(matrix: Any, entries: Entries) -> Integers:
    """Return the values of the matrix in the order of the entries; raise InputError if a value is not a count."""
    counts = as_integers(_whole(matrix.data), "matrix.data")
    if len(counts) != len(entries.columns):
        raise unexpected("matrix.data", f"{len(entries.columns)} counts, one for each index", f"{len(counts)}")
    if entries.permutation is not None:
        counts = counts[entries.permutation]
    i = first((counts < 0) | (counts > LARGEST))
    if i is not None:
        raise unexpected(
            f"matrix[{entries.rows[i]}, {entries.columns[i]}]", f"a count from 0 to {LARGEST:,}", str(counts[i])
        )
    return counts


def _whole(data: Any) -> Any:
    """Convert counts of a floating-point type to integers; return data of another type unchanged."""
    array = np.asarray(data)
    if array.dtype.kind != "f":
        return data
    i = first(~(np.abs(array) <= LARGEST) | (array != np.round(array)))
    if i is not None:
        raise unexpected(f"matrix.data[{i}]", "a whole number as a count", shown(array[i].item()))
    return array.astype(np.int64)


def _lengths(counts: Integers, offsets: Integers) -> Any:
    sums = np.concatenate(([0], np.cumsum(counts)))
    lengths = np.diff(sums[offsets])
    if lengths.max(initial=0) > LARGEST:
        raise unexpected("matrix", f"at most {LARGEST:,} tokens in a document", f"{lengths.max():,}")
    return lengths.astype(np.int32)


def _quality(quality: Any, documents: Identifiers) -> Values | None:
    """Check the static quality of the documents, and return it as float64 in the documents' order."""
    if quality is None:
        return None
    if isinstance(quality, Mapping):
        names = documents.to_list()
        for name in names:
            if name not in quality:
                raise InputError("quality", f"must have a number for each document; {name!r} has none")
        quality = [quality[name] for name in names]
    numbers = as_numbers(quality, "quality", flat=True).astype(np.float64)
    if len(numbers) != len(documents):
        raise unexpected("quality", f"{len(documents)} numbers, one for each document", f"{len(numbers)}")
    check_no_nan(numbers, "quality")
    i = first((numbers < 0) | np.isinf(numbers))
    if i is not None:
        raise unexpected(f"quality[{i}]", "a finite number of at least 0", shown(float(numbers[i])))
    return numbers
