"""Readers of test collections: each format, malformed files, and four real collections."""

import gzip
import io
import tarfile
from functools import partial

import pytest

from tieaware.errors import InputError
from tieaware.retrieval import read_documents, read_judgments, read_quality, read_topics


def documents(text, format=None):
    return list(read_documents(io.BytesIO(text if isinstance(text, bytes) else text.encode()), format))


def tar(pages):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, page in pages.items():
            member = tarfile.TarInfo(name)
            member.size = len(page)
            archive.addfile(member, io.BytesIO(page))
    # A modification time would make the bytes differ from process to process. They are test parameters, and parallel
    # test processes must collect the same tests.
    return gzip.compress(file.getvalue(), mtime=0)


PAGE = b"<html>\n<pre>\n\n\nTied Scores\n\nThey are frequent.\n</pre>\n</html>\n"
TITLED = '{"_id": "d1", "title": "tie", "text": "a"}\n{"_id": "d2", "text": "b"}\n'


@pytest.mark.parametrize(
    ("text", "formats", "expected"),
    [
        ("<DOC>\n<DOCNO> d1 </DOCNO>\n<TEXT>tied &amp; <b>done</b>\n\n</TEXT></DOC>\n\n<doc><docno>d2</docno></doc>\n",
         (None, "trec"), [("d1", "tied & done"), ("d2", "")]),
        ('{"id": "d1", "contents": "tie"}\n\n{"_id": 2, "text": "tied"}\n', (None, "jsonl"),
         [("d1", "tie"), ("2", "tied")]),
        (TITLED, (None,), [("d1", {"title": "tie", "body": "a"}), ("d2", {"title": "", "body": "b"})]),
        # Windows line ends, Latin-1 beside UTF-8, and no end of the last line.
        (b"d1\ta\tb\r\nd2\tn\xe9\r\nd3\t\xc3\xa9", (None, "tsv"), [("d1", "a b"), ("d2", "né"), ("d3", "é")]),
        # The title is repeated in the text.
        (".I 1\n.T\ntied\nscores\n.A\nnobody\n.W\ntied scores are\nfrequent\n.I 2\n.W\nno title\n.X\n1 5 1\n",
         (None, "smart"),
         [("1", {"title": "tied scores", "body": "are frequent"}), ("2", {"title": "", "body": "no title"})]),
        ("1\ntied\nscores\n   /\n2\nmore\n/\n", ("npl",), [("1", "tied scores"), ("2", "more")]),
        (tar({"x/CACM-0001.html": PAGE, "x/readme.txt": b"no"}), ("cacm",),
         [("CACM-0001", {"title": "Tied Scores", "body": "They are frequent."})]),
    ],
    ids=["trec", "jsonl", "jsonl with titles", "tsv", "smart", "npl", "cacm"],
)  # fmt: skip
def test_formats_of_documents(text, formats, expected):
    assert [documents(text, format) for format in formats] == [expected] * len(formats)


def test_judgments():
    cranfield = read_judgments(io.BytesIO(b"1 184 1\r\n1 29 4 \r\n\r\n1 31 -1\r\n"), "cranfield")
    assert cranfield.labels.tolist() == [4, 1, 0]
    assert read_judgments(io.BytesIO(b"1 13 1\n1 13 1\n2 4 0 0.0\n"), "smart").labels.tolist() == [1, 1]
    assert read_judgments(io.BytesIO(b"1 0 d1 2\n")).labels.tolist() == [2]
    assert read_judgments(io.BytesIO(b"1 Q0 CACM-756 1\n"), "cacm").documents.to_list() == ["CACM-0756"]
    npl = read_judgments(io.BytesIO(b"1\n 5 6\n 7\n/\n2\n5\n/\n"), "npl")
    assert npl.to_dict() == {"1": dict.fromkeys("567", 1), "2": {"5": 1}}


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        (b"", None, "the format cannot be detected; it must be given as one of trec, jsonl"),
        (b"just words\n", None, "the format cannot be detected"),
        (b"d1\ttie\n", "xml", "format: expected one of trec, jsonl"),
        (b"d1\ttie\nwords\n", "tsv", "<file>:2: expected an id, a tab and a text, found 'words'"),
        (b"<DOC>\nno name\n</DOC>\n", "trec", "<file>:3: the document that ends here has no <DOCNO>"),
        (b"<DOC>\n<DOCNO>d1</DOCNO>\n", "trec", "<file>:2: the file ends inside a document"),
        (b'{"id": "d1"}\n', "jsonl", "<file>:1: the object must have an id and a text"),
        (b'{"id": "d1", "text": "a"}\n[1]\n', "jsonl", "<file>:2: expected a JSON object"),
        (b"[" * 100_000 + b"\n", "jsonl", "<file>:1: the JSON is nested too deeply"),
        (b'{"id": "d1", "id": "d2", "text": "a"}', "jsonl", "<file>:1: an object has the key 'id' twice"),
        (b"words\n.I 1\n", "smart", "<file>:1: expected a line such as .I 1"),
        (b".I\n.W\nx\n", "smart", "<file>:1: expected an id"),
        (b"words\n", "npl", "<file>:1: expected a line with a number"),
        (b"no tar file, but long enough " * 100, "cacm", "<file>: not a complete tar file"),
        (tar({"a.html": b"x" * 5000})[:60], "cacm", "<file>: truncated gzip data"),
    ],
)
def test_malformed_documents_are_refused(text, format, message):
    with pytest.raises(InputError, match=message) as raised:
        documents(text, format)
    assert "\n" not in str(raised.value)


def test_a_folder_is_read_with_its_subfolders(tmp_path):
    """Files are read in the order of their paths; each has its own format. Hidden files and folders are left out."""
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "b" / "c" / "1.gz").write_bytes(gzip.compress(b"d2\tranks\n"))
    (tmp_path / "a.jsonl").write_text('{"id": "d1", "contents": "tie"}\n')
    (tmp_path / "z.tsv").write_text("d3\tscores\n")
    for hidden in (tmp_path / ".git" / "x", tmp_path / "b" / ".x"):
        hidden.write_text("no document")
    assert list(read_documents(tmp_path)) == [("d1", "tie"), ("d2", "ranks"), ("d3", "scores")]
    # Links to folders are followed, but no folder is read twice, although a link leads to a folder above it.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "4.tsv").write_text("d4\tlinked\n")
    linking = tmp_path / "b" / "linking"
    try:
        linking.mkdir()
        (linking / "up").symlink_to(tmp_path / "b")
        (linking / "twice").symlink_to(tmp_path / "elsewhere")
        (linking / "again").symlink_to(tmp_path / "elsewhere")
    except OSError:
        pytest.skip("this system does not allow links")
    assert [name for name, _ in read_documents(tmp_path / "b")] == ["d2", "d4"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: there are no files in this folder"):
        list(read_documents(tmp_path / "empty"))


def test_quality():
    assert read_quality(io.BytesIO(b"d1\t0.5\n\na b 1e-3\r\nd3 1")) == {"d1": 0.5, "a b": 0.001, "d3": 1.0}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (partial(read_judgments, format="cranfield"), b"1 5 9\n",
         "<file>:1: expected a label, one of 1, 2, 3, 4, 5, -1, found '9'"),
        (partial(read_judgments, format="smart"), b"1\n", "<file>:1: expected a query and a document"),
        (partial(read_judgments, format="smart"), b"", "<file>: the file has no judgments"),
        (partial(read_judgments, format="cacm"), b"1 Q0 d1 1\n",
         "<file>:1: expected the columns query, iteration, CACM-number and label"),
        (read_quality, b"", "<file>: the file has no qualities"),
        (read_quality, b"d1\n", "<file>:1: expected an id and a number of at least 0, found 'd1'"),
        (read_quality, b"d1 0.5\nd2 nan\n", "<file>:2: expected an id and a number of at least 0, found 'd2 nan'"),
        (read_quality, b"d1 -0.5\n", "<file>:1: expected an id and a number of at least 0, found 'd1 -0.5'"),
        (read_quality, b"d1 0.5\n d1\t0.5\n", "<file>:2: the document 'd1' appears twice"),
    ],
)  # fmt: skip
def test_malformed_judgments_and_qualities_are_refused(read, text, message):
    with pytest.raises(InputError, match=message):
        read(io.BytesIO(text))


@pytest.mark.parametrize(
    ("folder", "files", "format", "counts"),
    [
        ("cranfield_raw", ("cran.all.1400", "cran.qry", "cranqrel"), "cranfield", (1400, 225, 225)),
        ("medline", ("MED.ALL", "MED.QRY", "MED.REL"), "smart", (1033, 30, 30)),
        ("cacm", ("cacm.tar.gz", "topics.cacm.txt", "qrels.cacm.txt"), "cacm", (3204, 64, 52)),
        ("vaswani_npl", ("doc-text.trec", "query-text.trec", "qrels"), "trec", (11429, 93, 93)),
    ],
)
def test_real_collections(data, folder, files, format, counts):
    """Count the documents, topics and judged queries; every judged document must be in the collection."""
    paths = [data / folder / file for file in files]
    found = list(read_documents(paths[0], format))
    topics, qrels = read_topics(paths[1], format), read_judgments(paths[2], format)
    assert (len(found), len(topics), len(qrels)) == counts
    assert set(qrels.queries.to_list()) <= set(topics)
    assert set(qrels.documents.to_list()) <= {name for name, _ in found}


@pytest.mark.parametrize("opening", ["<DOCNO>", "<DOCNO>" + "<DOCNO" * 1000, "<DOC><DOCNO>" * 1000])
def test_a_name_without_an_end_is_an_error_soon(opening):
    text = b"<DOC>" + opening.encode() + b" " * 100_000 + b"</DOC>"
    with pytest.raises(InputError, match=r"^<file>:1: the document that ends here has no <DOCNO>$"):
        documents(text, "trec")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("&#65;&#0066;&#x43;&amp;", "ABC&"),
        ("&#" + "9" * 5000 + ";", "\ufffd"),
        ("&#" + "0" * 5000 + "65;", "A"),
        ("&#" + "0" * 5000 + ";", "\ufffd"),
        ("&#1114112;&#x" + "f" * 5000 + ";", "\ufffd\ufffd"),
        ("&#;&#x;", "&#;&#x;"),
    ],
)
def test_references_of_any_length_are_characters(written, text):
    content = f"<DOC><DOCNO>d1</DOCNO>{written}</DOC>".encode()
    assert documents(content, "trec") == [("d1", text)]
    topic = f"<top><num>1</num><title>{written}</title></top>".encode()
    assert read_topics(io.BytesIO(topic)) == {"1": text}
