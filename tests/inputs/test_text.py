"""Text of files: every reader has the same rules for lines, byte order marks, numbers and keys of JSON."""

import argparse
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.errors import message_of

from tieaware import InputError, Qrels, Run, read_qrels, read_run
from tieaware.commands import options
from tieaware.commands.retrieval_options import _stop_words
from tieaware.commands.smooth_command import _read_priors
from tieaware.inputs import RunFile
from tieaware.inputs.files import text
from tieaware.inputs.files.byte_streams import ByteStream
from tieaware.inputs.files.text import Lines, json_in, label_in, number_in, whole_in
from tieaware.inputs.tables.delimited import read_matrix
from tieaware.integrations import pytrec_eval, search_engines
from tieaware.kernels._trec import LONGEST_LINE
from tieaware.measures import parse_measure
from tieaware.precision import parse_precision
from tieaware.retrieval import Exact, read_documents, read_judgments, read_quality, read_topics

# Characters at which str.splitlines divides a text, although they end no line of a file. Those before \x85 are white
# space for TREC's fields, as in C; the others are not.
NO_ENDS = ("\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")


def plain(value):
    """Return the values of a result, which can be compared."""
    if isinstance(value, Qrels | Run):
        return value.to_dict()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


# Each reader: the suffix of its files, a text of several lines, and a function of the path.
READERS = {
    "run": ("run", "q Q0 a 1 2 t\nq Q0 b 2 1 t\n", read_run),
    "qrels": ("txt", "q 0 a 1\nq 0 b 0\n", read_qrels),
    "subtopics": ("txt", "q 1 a 1\nq 2 b 0\n", lambda path: read_qrels(path, subtopics=True).labels.tolist()),
    "ranks": ("run", "q Q0 a 1 2 t\nq Q0 b 2 1 t\n", lambda path: RunFile(path).ranks()),
    "csv": ("csv", "query,doc,score\nq,a,2\nq,b,1\n", read_run),
    "tsv": ("tsv", "query\tdoc\tscore\nq\ta\t2\nq\tb\t1\n", read_run),
    "json lines": ("jsonl", '{"query":"q","doc":"a","score":2}\n{"query":"q","doc":"b","score":1}\n', read_run),
    "matrix": ("csv", "A,B\n1,2\n3,4\n", read_matrix),
    "priors": ("csv", "A,0.5\nB,0.25\n", lambda path: _read_priors(str(path))[0]),
    "stop words": ("txt", "the\nof\n", lambda path: _stop_words(str(path))),
    "documents, tsv": ("txt", "d1\tone\nd2\ttwo\n", lambda path: list(read_documents(path))),
    "documents, jsonl": (
        "txt", '{"id":"d1","text":"one"}\n{"id":"d2","text":"two"}\n', lambda path: list(read_documents(path)),
    ),
    "documents, trec": (
        "txt", "<DOC>\n<DOCNO> d1 </DOCNO>\none\n</DOC>\n<DOC>\n<DOCNO>d2</DOCNO>\ntwo\n</DOC>\n",
        lambda path: list(read_documents(path)),
    ),
    "documents, smart": ("txt", ".I 1\n.W\none\n.I 2\n.W\ntwo\n", lambda path: list(read_documents(path, "smart"))),
    "documents, npl": ("txt", "1\none\n/\n2\ntwo\n/\n", lambda path: list(read_documents(path, "npl"))),
    "topics": ("txt", "<top>\n<num> 1\n<title> one\n<top>\n<num> 2\n<title> two\n</top>\n", read_topics),
    "topics, tsv": ("txt", "1\tone\n2\ttwo\n", read_topics),
    "quality": ("txt", "d1 0.5\nd2 1\n", read_quality),
    "judgments, smart": ("txt", "1 a\n1 b\n", lambda path: read_judgments(path, "smart")),
    "judgments, cranfield": ("txt", "1 a 2\n1 b 3\n", lambda path: read_judgments(path, "cranfield")),
    "judgments, npl": ("txt", "1\n4 5\n/\n", lambda path: read_judgments(path, "npl")),
    "judgments, cacm": ("txt", "1 0 CACM-7 1\n1 0 CACM-8 1\n", lambda path: read_judgments(path, "cacm")),
    "quepid": ("csv", "query,docid,rating\nq,a,2\nq,b,1\n", search_engines.read_judgments),
    "rank_eval": (
        "json", '{"requests":[{"id":"q",\n"ratings":[{"_id":"a","rating":2}]}]}', search_engines.read_judgments,
    ),
}  # fmt: skip


@pytest.fixture(params=READERS)
def reader(request, tmp_path):
    """A function that reads text, and the text."""
    suffix, written, read = READERS[request.param]

    def read_text(contents: str | bytes):
        path = tmp_path / f"a.{suffix}"
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return plain(read(path))

    return read_text, written


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_lines_end_in_three_ways(reader, end):
    read, written = reader
    expected = read(written)
    assert expected
    assert read(written.replace("\n", end)) == expected
    assert read(written.replace("\n", end).removesuffix(end)) == expected


def test_a_byte_order_mark_is_no_part_of_the_text(reader):
    read, written = reader
    assert read(b"\xef\xbb\xbf" + written.encode()) == read(written)


@pytest.mark.parametrize("character", NO_ENDS)
def test_no_other_character_ends_a_line(character):
    assert list(read_documents(io.BytesIO(f"d1\ta{character}b\nd2\tc\n".encode()), "tsv")) == [
        ("d1", f"a{character}b"), ("d2", "c"),
    ]  # fmt: skip
    assert read_run(io.BytesIO(f"q Q0 a{character}b 1 2 t\n".encode())).documents.to_list() == [f"a{character}b"]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab\n\r\x0b\x0c\x1c\x85\u2028", max_size=40), st.lists(st.integers(1, 9), min_size=1))
def test_lines_do_not_depend_on_the_reads(contents, sizes):
    class Stream:
        data, reads = contents.encode(), 0

        def read_into(self, buffer):
            n = sizes[self.reads % len(sizes)]
            part, self.data, self.reads = self.data[:n], self.data[n:], self.reads + 1
            buffer[: len(part)] = part
            return len(part)

        def place(self, line):
            return f"a:{line}"

    lines = Lines(Stream())
    found = list(lines)
    assert b"".join(found) == contents.encode()
    expected = re.split("\r\n|\r|\n", contents)
    assert [line.rstrip(b"\r\n").decode() for line in found] == expected[: len(expected) - (expected[-1] == "")]
    assert lines.number == len(found)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
def test_the_longest_line(end):
    with ByteStream(io.BytesIO(b"a\n" + b"b" * 1000 + end)) as stream:
        assert len(list(Lines(stream, 1000))) == 2
    with ByteStream(io.BytesIO(b"a\n" + b"b" * 1001 + end)) as stream:
        assert message_of(list, Lines(stream, 1000)) == "<file>:2: the line is longer than 1,000 bytes"


def test_a_long_line_is_refused_before_it_is_read_as_a_whole():
    class Endless:
        n = 0

        def read_into(self, buffer):
            self.n += 1
            buffer[:] = b"x" * len(buffer)
            return len(buffer)

        def place(self, line):
            return f"a:{line}"

    endless = Endless()
    assert message_of(list, Lines(endless)).startswith("a:1: the line is longer than")
    assert endless.n <= 2 + LONGEST_LINE // text._BUFFER


# ---- numbers --------------------------------------------------------------------------------------

NOT_NUMBERS = ("1_0", "1e1_0", "\u0661", "\uff11", "1\u00a0", "0x10", "1,5", "1e", "--1", "one", "infinite", "1d0")
NOT_REPRESENTED = ("9007199254740993", "-9007199254740993", "9007199254740993.0", "1e400", "1e401", "-1e400", "1e-400")
REPRESENTED = ("10", "+1.5", "-.5", "5.", "1E3", "9007199254740992", "1e-320", "1e23", "0e999", "0.30000000000000004")


@pytest.mark.parametrize("written", REPRESENTED)
def test_a_number_is_that_of_python(written):
    assert number_in(written) == number_in(written.encode()) == float(written)
    assert number_in(f" {written}\t") == float(written)


def test_infinities_and_nan_are_numbers_only_where_they_are_written():
    assert [number_in(each) for each in ("inf", "-INF", "Infinity")] == [np.inf, -np.inf, np.inf]
    assert np.isnan(number_in("nan"))


def test_whole_numbers_and_labels():
    assert (whole_in("+12"), whole_in("-0")) == (12, 0)
    assert [label_in(each) for each in ("2", "2.0", "1e1")] == [2, 2.0, 10.0]
    assert isinstance(label_in("2"), int)
    for written in ("1_0", "\u0661", "", "+", "1.0", " 1", "1" * 5000):
        with pytest.raises(ValueError, match=r"^'"):
            whole_in(written)


# Each place in which a number is read: the suffix, a text with the number at NUMBER, and a function of the path.
PLACES = {
    "run": ("run", "q Q0 a 1 NUMBER t\n", read_run),
    "csv": ("csv", "query,doc,score\nq,a,NUMBER\n", read_run),
    "tsv": ("tsv", "query\tdoc\tscore\nq\ta\tNUMBER\n", read_run),
    "json lines": ("jsonl", '{"query":"q","doc":"a","score":NUMBER}\n', read_run),
    "labels": ("txt", "q 0 a NUMBER\n", read_qrels),
    "labels, csv": ("csv", "query,doc,label\nq,a,NUMBER\n", read_qrels),
    "labels of subtopics": ("txt", "q 1 a NUMBER\n", lambda path: read_qrels(path, subtopics=True)),
    "matrix": ("csv", "A\nNUMBER\n", read_matrix),
    "priors": ("csv", "A,NUMBER\n", lambda path: _read_priors(str(path))[0]),
    "quality": ("txt", "d1 NUMBER\n", read_quality),
    "quepid": ("csv", "query,docid,rating\nq,a,NUMBER\n", search_engines.read_judgments),
    "ratings": (
        "json", '{"requests":[{"id":"q","ratings":[{"_id":"a","rating":NUMBER}]}]}', search_engines.read_judgments,
    ),
    "ratings as text": (
        "json", '{"requests":[{"id":"q","ratings":[{"_id":"a","rating":"NUMBER"}]}]}', search_engines.read_judgments,
    ),
    "hits": (
        "json", '{"hits":{"hits":[{"_id":"a","_score":NUMBER}]}}', lambda path: search_engines.read_results(path, "q"),
    ),
}  # fmt: skip


@pytest.fixture(params=PLACES)
def place(request, tmp_path):
    """A place in which a number is read, and a function that reads a number there."""
    suffix, contents, read = PLACES[request.param]
    path = tmp_path / f"a.{suffix}"

    def read_number(written):
        path.write_text(contents.replace("NUMBER", written), encoding="utf-8")
        return read(path)

    return request.param, read_number


@pytest.mark.parametrize("written", [*NOT_NUMBERS, *NOT_REPRESENTED])
def test_every_reader_refuses_what_is_no_number(place, written, tmp_path):
    name, read_number = place
    message = message_of(read_number, written)
    assert message.startswith(f"{tmp_path}")
    if written in NOT_REPRESENTED and name in ("run", "csv", "tsv", "matrix", "priors", "quepid"):
        assert f"{written}, which float64 cannot represent" in message


@pytest.mark.parametrize("written", ["10", "1.5", "0", "1E2", "0.30000000000000004", "1e-320"])
def test_every_reader_reads_numbers(place, written):
    result = place[1](written)
    if isinstance(result, Run):
        assert result.scores.tolist() == [float(written)]
    elif isinstance(result, Qrels):
        assert result.labels.tolist() == [float(written)]


@pytest.mark.parametrize("written", ["1_0", "\u0661", "1e400"])
def test_numbers_in_options_and_notations_have_the_same_rule(written):
    for call in (
        lambda: parse_measure(f"AP(rel={written})"),
        lambda: parse_measure(f"nDCG(gains={{1: {written}}})"),
        lambda: parse_measure(f"P@{written}"),
        lambda: parse_precision(f"gap:{written}"),
        lambda: parse_precision(f"decimals:{written}"),
        lambda: parse_precision(f"bands:{written}"),
        lambda: Exact(weighting=f"bm25:k1={written}"),
        lambda: Exact(weighting=f"impact:{written}"),
        lambda: pytrec_eval.parse_run([f"q Q0 a 1 {written} t"]),
        lambda: pytrec_eval.parse_qrel([f"q 0 a {written}"]),
    ):
        with pytest.raises(InputError):
            call()
    for convert in (options.whole, options.real, options.label):
        with pytest.raises(argparse.ArgumentTypeError, match="found"):
            convert(written)


# ---- JSON -----------------------------------------------------------------------------------------


def test_json_is_that_of_the_standard_library():
    contents = json.dumps({"a": [1, 2.5, "é", None, True, 2**70], "b": {"a": float("inf"), "c": -0.0}}).encode()
    assert json_in(contents, "a.json") == json.loads(contents)


@pytest.mark.parametrize(
    ("contents", "line", "message"),
    [
        (b'{"a": {"b": 1,\n"b": 2}}', None, "a.json: an object has the key 'b' twice"),
        (b'{"a": 1, "a": 1}', 7, "a.json:7: an object has the key 'a' twice"),
        (b"[1,\r2,\r}", None, "a.json:3: this is not JSON: Expecting value at column 1"),
        (b"[1,\r\n2,\r\n   }", None, "a.json:3: this is not JSON: Expecting value at column 4"),
        (b'["\xe2\x80\xa8", }', None, "a.json:1: this is not JSON: Expecting value at column 7"),
        (b'[1,\r\n"\xff"]', None, "a.json:2: the text is not UTF-8"),
        (b"[" * 100_000, None, "a.json: the JSON is nested too deeply"),
        (b'{"a":' * 100_000, 2, "a.json:2: the JSON is nested too deeply"),
        (b"9" * 5000, None, "a.json: this is not usable JSON: "),
    ],
)
def test_unusable_json_is_one_line(contents, line, message):
    assert message_of(json_in, contents, "a.json", line).startswith(message)


def test_a_number_that_is_not_needed_may_be_unrepresentable():
    contents = b'{"hits": {"hits": [{"_id": "a", "_score": 1.5, "_source": {"price": 1e400, "id": 9007199254740993}}]}}'
    assert search_engines.read_results(io.BytesIO(contents), "q").to_dict() == {"q": {"a": 1.5}}
    run = search_engines.read_results(io.BytesIO(contents), "q", document="_source.id")
    assert run.to_dict() == {"q": {"9007199254740993": 1.5}}
