"""The index: documents, terms, and the postings between them."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tieaware.checks.arguments import flag, shown, unexpected
from tieaware.checks.arrays import Integers, Values, as_integers, as_offsets, check_no_nan
from tieaware.checks.arrays import as_scores as as_numbers
from tieaware.kernels import _postings
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.sparse import Entries
from tieaware.retrieval import index_file
from tieaware.retrieval.analysis import Analysis, Analyzer
from tieaware.retrieval.postings import LARGEST, Postings, postings_of

T = TypeVar("T")

ZONES = ("title", "body")


class Query(NamedTuple):
    """A query, as an index sees it.

    Attributes
    ----------
    terms : int64[n]
        The numbers of its terms that the index knows, each once, ascending.
    frequencies : int64[n]
        How often each occurs in the query; 0 for those that an expanded query has besides.
    weights : float64[n] or None
        What each weighs, if the query brings that along, as an expanded one does; else the weighting says.
    """

    terms: Integers
    frequencies: Integers
    weights: Values | None = None


class Index:
    """An inverted index in memory: `Index.build`, `Index.from_tokens`, `Index.from_matrix` or `Index.load` make one.

    Attributes
    ----------
    documents : Identifiers
        The documents, in the order in which they came.
    terms : list of str
        The terms; their numbers are their places here.
    postings : Postings
        Those of whole documents: of all zones, one after the other.
    zones : dict of str to Postings
        Those of each zone alone, if documents have zones.
    quality : float64[n_documents] or None
        The static quality of each document, from 0 to 1.
    analyzer : callable or None
        What makes the terms of a text.

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
        quality: Values | None, analyzer: Analysis | None,
    ) -> None:  # fmt: skip
        self.documents, self.terms, self.postings, self.zones = documents, terms, postings, zones
        self.quality, self.analyzer = quality, analyzer
        self._numbers = {term: number for number, term in enumerate(terms)}
        self._prepared: dict[Hashable, Any] = {}
        self._preparing = RLock()

    @classmethod
    def build(
        cls, documents: Iterable[tuple[object, str | Mapping[str, str]]], *, analyzer: Analysis | None = None,
        zones: Sequence[str] = ZONES, quality: ArrayLike | Mapping[Any, float] | None = None, positions: bool = True,
    ) -> Index:  # fmt: skip
        """Build an index of texts.

        Parameters
        ----------
        documents : iterable of (id, str) or of (id, {zone: str})
            Read once. Either all documents have zones, or none has.
        analyzer : callable, optional
            Takes a text and returns its terms, in their order; by default an `Analyzer`, which stems English and needs
            `tieaware[retrieval]`.
        zones : sequence of str
            The zones that documents may have, in the order in which they make up the whole; a document may lack some.
        quality : float[n_documents] or mapping of ids to float, optional
            The static quality of each document, from 0 to 1.
        positions : bool
            Whether to keep where terms occur, 4 bytes a token, which windows need.

        Returns
        -------
        Index
            Postings take 8 bytes each, besides the positions.

        Raises
        ------
        InputError
            A document is not of that form, appears twice or has another zone, or a quality is missing or outside its
            range; the message has its place.

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
        whole, parts = texts.postings(flag("positions", positions))
        return cls(names, list(texts.numbers), whole, parts, quality, texts.analyzer)

    @classmethod
    def from_tokens(
        cls, tokens: Iterable[Iterable[int]] | tuple[ArrayLike, ArrayLike], terms: Iterable[str], *,
        documents: Iterable[object] | None = None, analyzer: Analysis | None = None,
        quality: ArrayLike | Mapping[Any, float] | None = None, positions: bool = True,
    ) -> Index:  # fmt: skip
        """Build an index of documents that are numbers of terms already.

        Parameters
        ----------
        tokens : sequence of sequences of int, or (int[n_tokens], int64[n_documents + 1])
            The numbers of the terms of each document, in its order; or those of all documents, and where each starts.
        terms : iterable of str
            The terms: number 0, 1, …; each once.
        documents : iterable of str, bytes or int, optional
            The ids; by default 0, 1, ….
        analyzer : callable, optional
            Makes the terms of queries; without one, queries are sequences of terms.
        quality, positions
            As for `build`.

        Returns
        -------
        Index

        Raises
        ------
        InputError
            A token is the number of no term, or lengths disagree.

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
        """Build an index of a matrix of documents × terms, as scikit-learn's CountVectorizer makes one.

        Parameters
        ----------
        matrix : sparse matrix in CSR form
            How often each term occurs in each document: anything with ``indptr``, ``indices``, ``data`` and ``shape``.
        documents : iterable of str, bytes or int, optional
            The ids; by default 0, 1, ….
        terms : iterable of str, optional
            The terms; by default "0", "1", ….
        analyzer : callable, optional
            Makes the terms of queries; without one, queries are sequences of terms.
        quality
            As for `build`.

        Returns
        -------
        Index
            Without positions.

        Raises
        ------
        InputError
            It is no such matrix, has an entry twice or one that is no count, or lengths disagree.

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
        """Open an index that `save` wrote; its postings stay in the file, mapped into memory.

        Parameters
        ----------
        path : str or os.PathLike
        analyzer : callable, optional
            That which the index was built with, if it was no `Analyzer`.

        Returns
        -------
        Index

        Raises
        ------
        InputError
            The file cannot be read, is cut or damaged, or was written by a later version.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "layers.index")
        ...     Index.build([("d1", "layers"), ("d2", "layers")]).save(path)
        ...     Index.load(path)
        Index(2 documents, 1 terms, 2 postings)
        """
        parts = index_file.read(path)
        return cls(*parts if analyzer is None else parts._replace(analyzer=_analysis(analyzer)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file, which is whole or absent.

        Parameters
        ----------
        path : str or os.PathLike
            A file there is replaced.

        Raises
        ------
        InputError
            The file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Index.build([("d1", "layers"), ("d2", "layers")]).save(os.path.join(folder, "layers.index"))
        """
        index_file.write(index_file.Parts(*self._parts), path)

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return f"Index({len(self)} documents, {len(self.terms)} terms, {len(self.postings)} postings)"

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.documents, self.terms, self.postings, self.zones, self.quality, self.analyzer

    def __reduce__(self) -> tuple[Any, ...]:
        return Index, self._parts

    def query(self, text: str | Iterable[str]) -> Query:
        """Return a query as the index sees it: terms that it does not know are left out.

        Parameters
        ----------
        text : str, or iterable of str
            Text is analysed as the documents were; anything else is taken to be terms.

        Returns
        -------
        Query

        Raises
        ------
        InputError
            It is text, and there is no analyzer; or neither text nor terms.

        Examples
        --------
        >>> index = Index.build([("d1", "Boundary layers"), ("d2", "Layers tie")])
        >>> index.query("A layer upon the layers of a boundary, said twice")
        Query(terms=array([0, 1]), frequencies=array([1, 2]), weights=None)
        """
        terms = self._analysed(text)
        try:
            known = [self._numbers[term] for term in terms if term in self._numbers]
        except TypeError:
            raise unexpected("query", "text or a sequence of terms", shown(text)) from None
        return Query(*np.unique(np.array(known, np.int64), return_counts=True))

    def _analysed(self, text: str | Iterable[str]) -> Iterable[str]:
        if not isinstance(text, str):
            return text
        if self.analyzer is None:
            raise unexpected("query", "a sequence of terms, as the index has no analyzer", shown(text))
        return self.analyzer(text)

    def prepared(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made for this key before, or make it: weights, champion lists and the like.

        Parameters
        ----------
        key : hashable
            What it is, with all that it depends on besides the index.
        make : callable
            Makes it; not called again for the same key.

        Returns
        -------
        object

        Examples
        --------
        >>> index = Index.build([("d1", "layers"), ("d2", "layers")])
        >>> index.prepared("idf", lambda: 0.5), index.prepared("idf", lambda: 0.25)
        (0.5, 0.5)
        """
        with self._preparing:
            if key not in self._prepared:
                self._prepared[key] = make()
            made: T = self._prepared[key]
            return made


class _Texts:
    """Documents on their way into the index: names, and the numbers of their terms, of the whole and of each zone."""

    def __init__(self, zones: tuple[str, ...], analyzer: Analysis) -> None:
        self.zones, self.analyzer = zones, analyzer
        self.names: list[object] = []
        self.numbers: dict[str, int] = {}
        self._whole = _Tokens()
        self._parts: dict[str, _Tokens] | None = None

    def add(self, document: Any) -> None:
        """Add a document: (id, text) or (id, {zone: text})."""
        where = f"documents[{len(self.names)}]"
        if not isinstance(document, tuple | list) or len(document) != 2:
            raise unexpected(where, "(id, text) or (id, {zone: text})", shown(document))
        name, text = document
        if not self.names and isinstance(text, Mapping):
            self._parts = {zone: _Tokens() for zone in self.zones}
        if self._parts is None:
            self._whole.extend(self._analysed(text, where))
        else:
            self._add_zones(text, self._parts, where)
        self._whole.end()
        self.names.append(name)

    def _add_zones(self, text: Any, parts: dict[str, _Tokens], where: str) -> None:
        if not isinstance(text, Mapping):
            raise unexpected(where, "zones, as the documents before have", shown(text))
        for zone in text:
            if zone not in parts:
                raise unexpected(where, f"zones of {', '.join(self.zones)}", shown(zone))
        for zone, tokens in parts.items():
            more = self._analysed(text.get(zone, ""), f"{where}[{zone!r}]")
            tokens.extend(more)
            tokens.end()
            self._whole.extend(more)

    def _analysed(self, text: Any, where: str) -> list[int]:
        if not isinstance(text, str):
            raise unexpected(where, "text", shown(text))
        numbers = self.numbers
        return [numbers.setdefault(term, len(numbers)) for term in self.analyzer(text)]

    def postings(self, positions: bool) -> tuple[Postings, dict[str, Postings]]:
        """Return the postings of whole documents, and of each zone."""
        n_terms = len(self.numbers)
        parts = {} if self._parts is None else self._parts
        return self._whole.postings(n_terms, positions), {
            zone: tokens.postings(n_terms, positions) for zone, tokens in parts.items()
        }


class _Tokens:
    """Numbers of terms, document after document."""

    def __init__(self) -> None:
        self.numbers, self.ends = array("i"), array("q", [0])
        self.extend = self.numbers.extend

    def end(self) -> None:
        """End a document."""
        self.ends.append(len(self.numbers))

    def postings(self, n_terms: int, positions: bool) -> Postings:
        """Return the postings of what was added."""
        tokens = np.frombuffer(self.numbers, np.int32) if self.numbers else np.empty(0, np.int32)
        return postings_of(tokens, np.frombuffer(self.ends, np.int64), n_terms, positions=positions)


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
            raise unexpected(f"zones[{i}]", "a name, each once", shown(zone))
    return listed


def _documents(names: Iterable[object], n: int | None = None) -> Identifiers:
    """Return the ids of documents, each once."""
    documents = Identifiers.from_sequence(list(names), "documents")
    if n is not None and len(documents) != n:
        raise unexpected("documents", f"{n} ids, one for each document", f"{len(documents)}")
    seen: dict[bytes, int] = {}
    for i, name in enumerate(documents):
        if seen.setdefault(name, i) != i:
            raise unexpected(f"documents[{i}]", "each id once", f"{quoted(name)}, as documents[{seen[name]}] has")
    return documents


def _terms(terms: Iterable[str], n: int | None = None) -> list[str]:
    """Return terms, each once."""
    listed = list(terms)
    if n is not None and len(listed) != n:
        raise unexpected("terms", f"{n} terms, one for each column", f"{len(listed)}")
    seen: set[str] = set()
    for i, term in enumerate(listed):
        if not isinstance(term, str) or term in seen:
            raise unexpected(f"terms[{i}]", "text, each term once", shown(term))
        seen.add(term)
    return listed


def _flat(tokens: Any) -> tuple[Any, Any]:
    """Return the tokens of all documents as int32, and their offsets: arrays that nobody else has."""
    if isinstance(tokens, tuple) and len(tokens) == 2 and all(hasattr(each, "dtype") for each in tokens):
        flat = as_integers(tokens[0], "tokens[0]")
        offsets = as_offsets(tokens[1], len(flat), "tokens[1]", "tokens").copy()
    else:
        lists = [list(each) for each in tokens]
        offsets = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(each) for each in lists], out=offsets[1:])
        flat = as_integers([token for each in lists for token in each], "tokens")
    if len(flat) and not 0 <= flat.min() <= flat.max() <= LARGEST:
        i = int(((flat < 0) | (flat > LARGEST)).argmax())
        raise unexpected(f"tokens[{i}]", "the number of a term, from 0", str(flat[i]))
    return flat.astype(np.int32), offsets


def _counts(matrix: Any, entries: Entries) -> Integers:
    """Return how often each term occurs, in the order of the entries."""
    counts = as_integers(_whole(matrix.data), "matrix.data")
    if len(counts) != len(entries.columns):
        raise unexpected("matrix.data", f"{len(entries.columns)} counts, one for each index", f"{len(counts)}")
    if entries.permutation is not None:
        counts = counts[entries.permutation]
    wrong = (counts < 0) | (counts > LARGEST)
    if wrong.any():
        i = int(wrong.argmax())
        raise unexpected(
            f"matrix[{entries.rows[i]}, {entries.columns[i]}]", f"a count from 0 to {LARGEST:,}", str(counts[i])
        )
    return counts


def _whole(data: Any) -> Any:
    """Return counts that are floats as integers, if they are whole; anything else as it is."""
    array = np.asarray(data)
    if array.dtype.kind != "f":
        return data
    wrong = ~(np.abs(array) <= LARGEST) | (array != np.round(array))
    if wrong.any():
        raise unexpected(f"matrix.data[{int(wrong.argmax())}]", "a count", shown(array[wrong.argmax()].item()))
    return array.astype(np.int64)


def _lengths(counts: Integers, offsets: Integers) -> Any:
    sums = np.concatenate(([0], np.cumsum(counts)))
    lengths = np.diff(sums[offsets])
    if lengths.max(initial=0) > LARGEST:
        raise unexpected("matrix", f"at most {LARGEST:,} tokens in a document", f"{lengths.max():,}")
    return lengths.astype(np.int32)


def _quality(quality: Any, documents: Identifiers) -> Values | None:
    """Return the static quality of each document."""
    if quality is None:
        return None
    if isinstance(quality, Mapping):
        names = documents.to_list()
        for name in names:
            if name not in quality:
                raise unexpected("quality", "a number for each document", f"none for {name!r}")
        quality = [quality[name] for name in names]
    numbers = as_numbers(quality, "quality", flat=True).astype(np.float64)
    if len(numbers) != len(documents):
        raise unexpected("quality", f"{len(documents)} numbers, one for each document", f"{len(numbers)}")
    check_no_nan(numbers, "quality")
    wrong = (numbers < 0) | (numbers > 1)
    if wrong.any():
        i = int(wrong.argmax())
        raise unexpected(f"quality[{i}]", "a number from 0 to 1", shown(float(numbers[i])))
    return numbers
