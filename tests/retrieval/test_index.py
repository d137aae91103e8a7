"""The index: its postings against a plain count, all its constructors, and intact, truncated and malicious files."""

import json
import os
import pickle

import numpy as np
import pytest
from collections_of_words import documents, named, words
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array
from support.forged_index import save_forged

from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import RegularFile
from tieaware.retrieval import Analyzer, Index, index_file, is_index_file
from tieaware.retrieval.postings import postings_of


def counted(texts):
    """Collect the postings of texts in plain Python: {term: [(document, positions)]}."""
    found = {}
    for number, text in enumerate(texts):
        for term in dict.fromkeys(text):
            found.setdefault(term, []).append((number, [i for i, each in enumerate(text) if each == term]))
    return found


def listed(index, postings):
    """Convert the postings of an index to the form of `counted`."""
    found, at = {}, 0
    for number, term in enumerate(index.terms):
        for i in range(*postings.starts[number : number + 2]):
            n = postings.frequencies[i]
            positions = None if postings.positions is None else postings.positions[at : at + n].tolist()
            found.setdefault(term, []).append((int(postings.documents[i]), positions))
            at += n
    return found


def all_postings(index):
    return index.postings, *index.zones.values()


def same(index, other):
    return (
        index.documents == other.documents
        and index.terms == other.terms
        and [*index.zones] == [*other.zones]
        and all(
            np.array_equal(getattr(a, name), getattr(b, name))
            for a, b in zip(all_postings(index), all_postings(other), strict=True)
            for name in ("starts", "documents", "frequencies", "lengths", "positions")
            if getattr(a, name) is not None or getattr(b, name) is not None
        )
    )


@given(documents)
def test_postings_equal_a_plain_count(texts):
    index = Index.build(named(texts), analyzer=str.split)
    assert listed(index, index.postings) == counted(texts)
    assert index.postings.lengths.tolist() == [len(text) for text in texts]
    assert index.documents.to_list() == [name for name, _ in named(texts)]


@given(documents)
def test_all_constructors_build_the_same_index(texts):
    index = Index.build(iter(named(texts)), analyzer=str.split)
    numbers = {term: i for i, term in enumerate(index.terms)}
    names = [name for name, _ in named(texts)]
    lists = [[numbers[term] for term in text] for text in texts]
    flat = np.array([number for each in lists for number in each], np.int64)
    offsets = np.cumsum([0, *map(len, lists)])
    assert same(index, Index.from_tokens(lists, index.terms, documents=names))
    assert same(index, Index.from_tokens((flat, offsets), index.terms, documents=names))
    counts = np.array([[text.count(term) for term in index.terms] for text in texts], float)
    from_matrix = Index.from_matrix(csr_array(counts.reshape(len(texts), -1)), terms=index.terms, documents=names)
    without_positions = Index.build(named(texts), analyzer=str.split, positions=False)
    assert same(without_positions, from_matrix)


@given(st.lists(st.dictionaries(st.sampled_from(("title", "body")), words), min_size=1, max_size=6))
def test_zones_have_postings_alone_and_concatenated(texts):
    zoned = [(i, {zone: " ".join(text) for zone, text in each.items()}) for i, each in enumerate(texts)]
    index = Index.build(zoned, analyzer=str.split)
    for zone in ("title", "body"):
        assert listed(index, index.zones[zone]) == counted([each.get(zone, []) for each in texts])
    concatenated = counted([each.get("title", []) + each.get("body", []) for each in texts])
    assert listed(index, index.postings) == concatenated


def test_a_query_holds_the_terms_that_the_index_has():
    index = Index.build([("d1", "b a"), ("d2", "c")], analyzer=str.split)
    query = index.query("c unknown a c")
    assert [index.terms[term] for term in query.terms] == ["a", "c"]
    assert query.frequencies.tolist() == [1, 2]
    assert index.query(["c"]).terms.tolist() == [2]
    assert not len(index.query("").terms)


def test_text_is_split_stopped_and_stemmed():
    assert Analyzer()("The Boundary-Layers of flows, not flowing") == ["boundari", "layer", "flow", "flow"]
    assert Analyzer(stemmer=None, stop_words=None)("The ties") == ["the", "ties"]
    assert "anyhow" in Analyzer(stemmer=None)("anyhow")
    assert Analyzer(stemmer=None, stop_words="scikit-learn")("anyhow tied") == ["tied"]
    again = pickle.loads(pickle.dumps(Analyzer(stemmer="porter", stop_words=["a"])))
    assert again("a relational tie") == ["relat", "tie"]


@pytest.mark.parametrize("zones", [False, True])
def test_a_saved_index_is_loaded_unchanged(tmp_path, zones):
    texts = [("d1", "a tie of a tie"), (b"\xff", "tie"), ("d3", "")]
    given = [(name, {"body": text}) for name, text in texts] if zones else texts
    index = Index.build(given, quality=[0.0, 0.5, 1.0])
    index.save(tmp_path / "i")
    again = Index.load(tmp_path / "i")
    assert same(index, again)
    assert same(index, pickle.loads(pickle.dumps(index)))
    assert again.quality.tolist() == [0.0, 0.5, 1.0]
    assert again.query("The ties").terms.tolist() == index.query("The ties").terms.tolist() == [0]
    assert not again.postings.documents.flags.writeable


def test_load_takes_an_analyzer_that_the_file_cannot_store(tmp_path):
    index = Index.build([("d1", "a b")], analyzer=str.split)
    index.save(tmp_path / "i")
    assert Index.load(tmp_path / "i", analyzer=str.split).query("b").terms.tolist() == [1]
    with pytest.raises(InputError, match="no analyzer"):
        Index.load(tmp_path / "i").query("b")


def test_a_truncated_or_changed_file_is_refused(tmp_path):
    """A file cut at any byte is refused, and so is one with a flipped bit, except in the padding between arrays."""
    path = tmp_path / "i"
    index = Index.build([("d1", "a b a"), ("d2", "b")], analyzer=str.split, quality=[0.5, 1])
    index.save(path)
    intact = path.read_bytes()
    for n in range(len(intact)):
        path.write_bytes(intact[:n])
        with pytest.raises(InputError, match=r"^\S+: "):
            Index.load(path)
    n_padding = 0
    for n in range(0, len(intact), 3):
        path.write_bytes(intact[:n] + bytes([intact[n] ^ 1]) + intact[n + 1 :])
        try:
            read = Index.load(path)
        except InputError:
            continue
        assert same(index, read)
        n_padding += 1
    assert n_padding < 0.2 * len(intact)


def test_a_file_that_is_cut_or_changed_while_it_is_open(tmp_path, monkeypatch):
    """An index that is loaded needs its file no longer. If it were mapped into memory, SIGBUS would end the process."""
    path = tmp_path / "i"
    index = Index.build([(f"d{i}", f"a b{i}") for i in range(2000)], analyzer=str.split)
    index.save(path)
    loaded = Index.load(path)
    path.write_bytes(b"\xff" * 100_000)
    path.write_bytes(b"")
    assert same(index, loaded)
    index.save(path)
    read = RegularFile.read

    def cut(file, n, *arguments):
        if n > 1000:
            os.truncate(path, 1000)
        return read(file, n, *arguments)

    monkeypatch.setattr(RegularFile, "read", cut)
    with pytest.raises(InputError, match=r"i: the file was cut while it was read: [0-9,]+ bytes are missing"):
        Index.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_no_index(tmp_path):
    """Reading the first bytes of a pipe would take them from the reader that comes next, or wait for a writer."""
    os.mkfifo(tmp_path / "i")
    assert not is_index_file(tmp_path / "i")
    with pytest.raises(InputError, match=r"the file cannot be read: it is a folder, a pipe or a device"):
        Index.load(tmp_path / "i")


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("/documents", 0, 2), ("/documents", 1, -1), ("/documents", 2, 0), ("/frequencies", 0, 0),
        ("/frequencies", 0, 2**31 - 1), ("/starts", 1, 2**40), ("/starts", 1, -1), ("/lengths", 0, -5),
        ("term_ends", 1, 9), ("document_ends", 1, -3),
    ],
)  # fmt: skip
def test_a_malicious_file_is_refused(tmp_path, name, at, value):
    """The file has a correct checksum, but one of its numbers points outside the arrays."""

    def change(arrays):
        arrays[name][at] = value

    save_forged(tmp_path / "i", change)
    with pytest.raises(InputError, match=r"not a complete and undamaged file of Index\.save"):
        Index.load(tmp_path / "i")


@pytest.mark.parametrize("format", ["cranfield", "npl", None, "", "pdf", 7, ["trec"], {}])
def test_the_file_keeps_the_format_of_the_documents_if_it_is_known(tmp_path, format):
    index = Index.build([("d1", "a")], analyzer=str.split)
    index.format = format
    index.save(tmp_path / "i")
    if format in ("cranfield", "npl", None):
        assert Index.load(tmp_path / "i", analyzer=str.split).format == format
        assert pickle.loads(pickle.dumps(index)).format == format
    else:
        with pytest.raises(InputError, match=r"not a complete and undamaged file of Index\.save"):
            Index.load(tmp_path / "i")


def test_a_file_without_a_format_is_read(tmp_path, monkeypatch):
    """Files of earlier versions have none."""
    header = json.dumps

    def without(value):
        return header({name: value[name] for name in value if name != "format"})

    monkeypatch.setattr(index_file.json, "dumps", without)
    Index.build([("d1", "a")], analyzer=str.split).save(tmp_path / "i")
    monkeypatch.undo()
    assert b'"format"' not in (tmp_path / "i").read_bytes()
    assert Index.load(tmp_path / "i").format is None


def test_a_later_version_is_refused(tmp_path):
    Index.build([("d1", "a")], analyzer=str.split).save(tmp_path / "i")
    content = (tmp_path / "i").read_bytes()
    (tmp_path / "i").write_bytes(content.replace(b'"version": 1', b'"version": 7'))
    with pytest.raises(InputError, match=r"wrote it in version 7 of the format; .* reads version 1 or earlier"):
        Index.load(tmp_path / "i")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Index.build([("d1", "a"), ("d1", "b")]), r"documents\[1\]: has the same id as documents\[0\]: 'd1'"),
        (lambda: Index.build(["ab"]), r"documents\[0\]: expected \(id, text\)"),
        (lambda: Index.build([("d1", 3)]), r"documents\[0\]: expected text, found 3"),
        (lambda: Index.build([("d1", {"name": "a"})]), "unknown zone 'name'; the zones are title, body"),
        (lambda: Index.build([("d1", {"title": "a"}), ("d2", "a")]), r"documents\[1\]: must have zones"),
        (lambda: Index.build([("d1", "a"), ("d2", {"title": "a"})]), r"documents\[1\]: expected text"),
        (lambda: Index.build([("d1", "a")], quality=[-2]), r"quality\[0\]: expected a finite number of at least 0"),
        (lambda: Index.build([("d1", "a")], quality=[float("nan")]), r"quality\[0\]: expected a number"),
        (lambda: Index.build([("d1", "a")], quality=[float("inf")]), r"quality\[0\]: expected a finite number"),
        (lambda: Index.build([("d1", "a")], quality={"d2": 1}), "quality: must have a number for each document"),
        (lambda: Index.build([("d1", "a")], zones="title"), "zones: expected a sequence of names"),
        (lambda: Index.build([("d1", "a")], analyzer="english"), "analyzer: expected a callable"),
        (lambda: Index.from_tokens([[0, 7]], ["a"]), r"tokens\[1\]: expected a term number from 0 to 0, found 7"),
        (lambda: Index.from_tokens([[0, -1]], ["a"]), r"tokens\[1\]: expected the number of a term"),
        (lambda: Index.from_tokens([[0, 2**40]], ["a"]), r"tokens\[1\]: expected the number of a term"),
        (lambda: Index.from_tokens([[0]], ["a", "a"]), r"terms\[1\]: expected text that is not the same"),
        (lambda: Index.from_tokens([[0]], ["a"], documents=["d1", "d2"]), "documents: expected 1 ids"),
        (lambda: Index.from_matrix(csc_array(np.eye(2))), "matrix: expected a sparse matrix in CSR form"),
        (lambda: Index.from_matrix(csr_array(-np.eye(2))), r"matrix\[0, 0\]: expected a count"),
        (lambda: Index.from_matrix(csr_array(np.eye(2) / 2)), r"matrix.data\[0\]: expected a whole number"),
        (lambda: Index.from_matrix(csr_array(np.eye(2)), terms=["a"]), "terms: expected 2 terms"),
        (lambda: Analyzer(stemmer="klingon"), "stemmer: expected one of"),
        (lambda: Analyzer(stop_words="many"), "stop_words: expected one of"),
        (lambda: Index.build([("d1", "a")]).query(3), "query: expected text or a sequence of terms"),
        (lambda: Index.load("/nowhere/at/all"), "No such file"),
    ],
)
def test_errors_name_the_bad_input(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_large_vocabulary_and_long_documents():
    rng = np.random.default_rng(15)
    tokens = rng.zipf(1.3, 200_000) % 5_000
    offsets = np.concatenate(([0], np.sort(rng.integers(0, len(tokens), 999)), [len(tokens)]))
    postings = postings_of(tokens.astype(np.int32), offsets.astype(np.int64), 5_000, positions=True)
    documents = np.repeat(np.arange(1000), np.diff(offsets))
    pairs, frequencies = np.unique(np.stack([tokens, documents]), axis=1, return_counts=True)
    np.testing.assert_array_equal(postings.documents, pairs[1])
    np.testing.assert_array_equal(postings.frequencies, frequencies)
    np.testing.assert_array_equal(postings.starts, np.searchsorted(pairs[0], np.arange(5_001)))
    assert len(postings.positions) == len(tokens)


def test_a_posting_takes_8_bytes():
    rng = np.random.default_rng(8)
    postings = Index.from_tokens(rng.integers(0, 50, (2000, 40)).tolist(), map(str, range(50))).postings
    assert len(postings) > 40_000
    assert postings.documents.nbytes + postings.frequencies.nbytes == 8 * len(postings)
    # Besides the postings, the index stores a start for each term and a length for each document.
    assert postings.starts.nbytes + postings.lengths.nbytes == 8 * (50 + 1) + 4 * 2000
