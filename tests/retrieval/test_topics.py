"""Topics: their title, description and narrative, in the forms in which TREC and others publish them."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware.errors import InputError
from tieaware.retrieval import read_topics
from tieaware.retrieval.collections import FORMATS, read_collection
from tieaware.retrieval.topics import PARTS


def topics(text, *parts, format=None):
    content = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    return read_topics(content, format, parts=parts) if parts else read_topics(content, format)


def parts_of(text):
    """Return each part of each topic."""
    each = {part: topics(text, part) for part in PARTS}
    return {name: tuple(each[part][name] for part in PARTS) for name in each["title"]}


# As in TREC-6 to TREC-8 and Robust04: labels, no closing tags.
ADHOC = """
<top>

<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate in international criminal
activity, the activity, and, if possible, collaborating organizations.

<narr> Narrative:
A relevant document must as a minimum identify the organization;
at < 5 percent, "rings" &amp; gangs are not relevant.

</top>


<top>
<num> Number: 302 \n<title> Poliomyelitis\n<desc> Description: \nIs the disease of Polio under control?
<narr> Narrative: \nRelevant.
</top>
"""

# As in TREC-1 and TREC-2: further elements, and a label before the title.
TIPSTER = """<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus Subsidies

<desc> Description:

Document will discuss government assistance to Airbus Industrie.

<smry> Summary:
none of this

<narr> Narrative:

A relevant document will cite trade policies.

<con> Concept(s):

1. Airbus Industrie

<fac> Factor(s):
<nat> Nationality: U.S.
</fac>

<def> Definition(s):
none
</top>
"""

# As in the web tracks.
WEB = """<?xml version="1.0" encoding="UTF-8"?>
<webtrack2012>
  <topic number="151" type="faceted">
    <query>403b</query>
    <description>
      What is a 403b plan &lt;in the U.S.&gt;?
    </description>
    <subtopic number="1" type="inf">What is it?</subtopic>
  </topic>
  <topic type='single' number='152'><query><![CDATA[angular <b> cheilitis]]></query>
    <description>What is the <em>best</em> treatment?</description></topic>
</webtrack2012>
"""

# As in TREC-COVID.
COVID = """<topics task="COVIDSEARCH" batch="1">
  <topic number="1">
    <query>coronavirus origin</query>
    <question>what is the origin of COVID-19</question>
    <narrative>seeking range of information about the virus</narrative>
  </topic>
</topics>
"""


ADHOC_PARTS = {
    "301": (
        "International Organized Crime",
        "Identify organizations that participate in international criminal activity, the activity, and, if "
        "possible, collaborating organizations.",
        'A relevant document must as a minimum identify the organization; at < 5 percent, "rings" & gangs are not '
        "relevant.",
    ),
    "302": ("Poliomyelitis", "Is the disease of Polio under control?", "Relevant."),
}
TIPSTER_PARTS = {
    "051": (
        "Airbus Subsidies", "Document will discuss government assistance to Airbus Industrie.",
        "A relevant document will cite trade policies.",
    )
}  # fmt: skip
COVID_PARTS = {
    "1": (
        "coronavirus origin", "what is the origin of COVID-19", "seeking range of information about the virus",
    )
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [(ADHOC, ADHOC_PARTS), (TIPSTER, TIPSTER_PARTS), (COVID, COVID_PARTS)],
    ids=["adhoc", "tipster", "covid"],
)
def test_parts_of_published_topics(text, expected):
    assert parts_of(text) == expected


TITLES = {"301": "International Organized Crime", "302": "Poliomyelitis"}
OLD = "<top>\n<num> Number: 301\n<title> Topic: tied\nscores\n<desc> Description:\nnone\n</top>\n"
NEW = "<TOP><NUM>7</NUM><TITLE>\nTIES\n</TITLE></TOP>"
LACKING = "<top><num>1<title>a<desc>b</top><top><num>2<title>c</top>"
JSON = """{"qid": 1, "title": "tie", "description": "do they?", "narrative": "all"}
{"qid": 2, "title": "rank", "desc": null}
"""
OTHER_JSON = '{"_id": "1", "text": "tie", "desc": "of scores"}\n'


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        # The default is the title. Parts are joined in the given order.
        (ADHOC, (), TITLES), (ADHOC, ("title",), TITLES),
        (ADHOC, ("narrative", "title"), {
            name: f"{narrative} {title}" for name, (title, _, narrative) in ADHOC_PARTS.items()
        }),
        (ADHOC, PARTS, {name: " ".join(each) for name, each in ADHOC_PARTS.items()}),
        (WEB, (), {"151": "403b", "152": "angular <b> cheilitis"}),
        (WEB, ("description",),
         {"151": "What is a 403b plan <in the U.S.>?", "152": "What is the best treatment?"}),
        # Old, new and lower-case topics in one file, and documents that are topics.
        (OLD + NEW, (), {"301": "tied scores", "7": "TIES"}),
        ("<DOC>\n<DOCNO>3</DOCNO>\nties\n</DOC>", (), {"3": "ties"}),
        # A topic without a closing tag ends where the next begins.
        ("<top>\n<num>1\n<title>a\n<top>\n<num>2\n<title>b\n</top>\n", (), {"1": "a", "2": "b"}),
        # A topic of XML without elements is its query.
        ('<topics><topic number="1">\nA 19-year-old\nmale &amp; more\n</topic></topics>', (),
         {"1": "A 19-year-old male & more"}),
        # A topic may lack a part.
        (LACKING, ("title", "description"), {"1": "a b", "2": "c"}), (LACKING, ("description",), {"1": "b", "2": ""}),
        (JSON, ("title", "description"), {"1": "tie do they?", "2": "rank"}),
        (JSON, ("narrative",), {"1": "all", "2": ""}),
        (OTHER_JSON, ("title", "description"), {"1": "tie of scores"}),
    ],
)  # fmt: skip
def test_texts_of_topics(text, parts, expected):
    assert topics(text, *parts) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Elements without closing tags on one line.
        ("<top><num> 7 <title> ties <desc> Description: of <narr> Narrative: all</top>", ("ties", "of", "all")),
        # Labels in other spellings: without a colon on a line of their own, in capitals, and after white space.
        ("<top><num>7\n<title> ties\n<desc> Description\nof\n<narr>\n NARRATIVE :\nall\n</top>", ("ties", "of", "all")),
        # A word that is no label, because it is part of the text.
        ("<top><num>7<title>topic models<desc>Description logics<narr>Narratives</top>",
         ("topic models", "Description logics", "Narratives")),
        # Attributes of elements, and markup in their text.
        ("<top lang='en'><num>7</num><title x=''>a <i>b</i> c</title><desc>\n<p>d</p>\n</desc><narr>e</narr></top>",
         ("a b c", "d", "e")),
        # A number in an element of XML.
        ("<topic><number>7</number><title>a</title><desc>b</desc><narr>c</narr></topic>", ("a", "b", "c")),
    ],
)  # fmt: skip
def test_quirks(text, expected):
    assert parts_of(text) == {"7": expected}


def test_cranfield_topics_are_numbered_by_position():
    text = b".I 001\n.W\nfirst\n.I 004\n.W\nsecond\n"
    assert topics(text, format="cranfield") == {"1": "first", "2": "second"}


@pytest.mark.parametrize(
    ("text", "parts", "message"),
    [
        ("1\ta\n1\tb\n", (), "<file>:2: the topic '1' appears twice"),
        ("<top><num>1<title>a</top>\n<top><num>1<title>b</top>", (), "<file>:2: the topic '1' appears twice"),
        ("<top><num>1<title>a", (), "<file>:1: the file ends inside a topic: a closing tag is missing"),
        ("<top><title>a</top>", (), "<file>:1: the topic that ends here has no <num>"),
        ("<top><num>1<desc>a</top>", (), "<file>: no topic has a title; other parts of topics are description"),
        ("<top><num>1<title>a</top>", ("narrative",), "<file>: no topic has a narrative; other parts of topics are"),
        ("<top><num>1<title>a</top>", PARTS, "<file>: no topic has a description$"),
        ("1\ta\n", ("title", "description"), "<file>: topics in this format have no parts besides the title"),
        ('{"id": 1, "title": 5}\n', ("title", "narrative"), "<file>:1: the object must have an id, and parts"),
        ("1\ta\n", ("titel",), r"parts\[0\]: expected one of title, description, narrative, found 'titel'"),
        ("1\ta\n", ("title", "title"), "parts: must name at least one part, and each only once"),
    ],
)  # fmt: skip
def test_unusable_topics_are_refused(text, parts, message):
    with pytest.raises(InputError, match=message):
        topics(text, *parts)


@pytest.mark.parametrize("content", ["\n" * 10**5, "<![CDATA[" * 10**5, "<title " * 10**5, "<title>\n  " * 10**5])
def test_hostile_topics_are_read_in_linear_time(content):
    """A quadratic search would take hours."""
    assert list(topics(f"<top><num>1<title>a<desc>{content}</top>", "title")) == ["1"]


FRAGMENTS = st.sampled_from([
    "<top>", "</top>", '<topic number="1">', "<topics>", "</topic>", "<num>", "Number:", "</num>", "<title", "<title>",
    "</title>", "Topic:", "<desc>", "Description:", "<narr>", "<![CDATA[", "]]>", "&amp;", "&#0;", "<", ">", "\n", "1",
    "2", "tie", "{", '{"id": 1, "title": "a"}', "\t", " ", "\0", "é", "\udcff", "<DOCNO>", ".I", "/",
])  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=25), st.sampled_from([None, *FORMATS]), st.sampled_from([PARTS, ("title",)]))
def test_any_file_gives_topics_or_an_error_in_one_line(fragments, format, parts):
    content = io.BytesIO("".join(fragments).encode("utf-8", "surrogateescape"))
    try:
        answer = read_topics(content, format, parts=parts)
    except InputError as error:
        answer = {"error": f"{error}".replace("\n", "a second line")}
    assert all(isinstance(each, str) for pair in answer.items() for each in pair)
    assert "a second line" not in answer.get("error", "")


@pytest.mark.parametrize("parts", [(), "title", None])
def test_parts_is_a_sequence_of_names(parts):
    with pytest.raises(InputError, match=r"^parts"):
        read_topics(io.BytesIO(b"1\ta\n"), parts=parts)


SMART = "".join(f".I {{}}\n.W\n{word} flow\n" for word in ("wing", "heat", "layer"))


@pytest.mark.parametrize(
    ("numbers", "warns"),
    [(("001", "002", "004"), True), (("1", "2", "3"), False), (("3", "5", "9"), False), (("1", "4", "2"), False),
     (("a", "b", "d"), False)],
)  # fmt: skip
def test_topics_that_may_be_those_of_cranfield_are_said(numbers, warns, tmp_path, recwarn):
    """Cranfield's judgments number the topics from 1, and its file of topics does not: AP would silently be near 0."""
    path = tmp_path / "topics.qry"
    path.write_text(SMART.format(*numbers))
    if warns:
        with pytest.warns(UserWarning, match=r"have gaps \(001, 002, 004 …\), as Cranfield's"):
            assert list(read_topics(path)) == list(numbers)
    assert list(read_topics(path, "smart")) == list(numbers)
    assert list(read_topics(path, "cranfield")) == ["1", "2", "3"]
    if not warns:
        assert list(read_topics(path)) == list(numbers)
    assert not recwarn.list


def test_the_format_of_the_documents_decides_between_formats_that_topics_do_not_show(tmp_path, recwarn):
    smart, npl, tabs = (tmp_path / name for name in ("smart", "npl", "tabs"))
    smart.write_text(SMART.format("001", "002", "004"))
    npl.write_text("7\nwing\nflow\n/\n")
    tabs.write_text("7\twing flow\n")
    assert list(read_topics(smart, of_documents="cranfield")) == ["1", "2", "3"]
    assert list(read_topics(smart, "smart", of_documents="cranfield")) == ["001", "002", "004"]
    assert read_topics(npl, of_documents="npl") == read_topics(npl, "npl") == {"7": "wing flow"}
    for format in (None, *FORMATS):
        assert read_topics(tabs, of_documents=format) == {"7": "wing flow"}
        if format != "npl":
            with pytest.raises(InputError, match="the format cannot be detected"):
                read_topics(npl, of_documents=format)
    assert not recwarn.list


def test_documents_of_cranfield_are_recognised_by_their_first_words(tmp_path):
    text = ".I 1\n.T\nexperimental investigation of the {} of a\nwing .\n.W\nlift\n"
    for word, format in (("aerodynamics", "cranfield"), ("flow", "smart")):
        (tmp_path / word).write_text(text.format(word))
        found = set()
        assert len(list(read_collection([tmp_path / word], found=found))) == 1
        assert found == {format}
