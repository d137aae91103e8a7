"""Reader of topics, whose queries are the title, the description or the narrative of each topic.

TREC's topics are SGML without closing tags, with a label before the text of each part, or XML:

    <top>                                             <topics>
    <num> Number: 301                                   <topic number="1">
    <title> International Organized Crime                 <query>coronavirus origin</query>
    <desc> Description:                                   <question>what is the origin of COVID-19</question>
    Identify organizations that participate …             <narrative>seeking range of information …</narrative>
    <narr> Narrative:                                   </topic>
    A relevant document must …                        </topics>
    </top>
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

from tieaware.checks.arguments import one_of, sequence, shown
from tieaware.errors import InputError, warn
from tieaware.retrieval.collections import (
    LONGEST,
    READERS,
    Format,
    Path,
    TextFile,
    format_of,
    id_of,
    joined,
    json_objects,
    without_tags,
)

Part: TypeAlias = Literal["title", "description", "narrative"]
PARTS: tuple[Part, ...] = get_args(Part)

# The names of each part: of elements in TREC's topics, and of fields in JSON.
_NAMES: dict[str, tuple[str, ...]] = {
    "title": ("title", "query"),
    "description": ("description", "desc", "question"),
    "narrative": ("narrative", "narr"),
}
_JSON_NAMES = _NAMES | {"title": ("title", "query", "text", "contents", "body")}
# The labels before the text of an element, which are no words of the topic.
_LABELS = {"number": "Number", "title": "Topic", "description": "Description", "narrative": "Narrative"}
# Elements of TREC's topics. The text of an element that is not closed ends where one of them begins.
_ELEMENTS = (
    "num", "number", "dom", "def", "con", "fac", "head", "smry", *(name for names in _NAMES.values() for name in names)
)  # fmt: skip
_NEXT = re.compile(rf"<(?:{'|'.join(_ELEMENTS)})[\s>]|^[ \t]*</?[a-z]", re.IGNORECASE | re.MULTILINE)
_TOPIC = re.compile(r"<(/?)(top|topic)(\s[^<>]*)?>", re.IGNORECASE)
_NUMBER = re.compile(r"\s(?:number|num|id)\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
# No section contains the beginning of another: a search that could skip over beginnings would be quadratic.
_CDATA = re.compile(r"<!\[CDATA\[((?:(?!<!\[CDATA\[).)*?)\]\]>", re.DOTALL)
_ELEMENT = re.compile(r"<[a-z]", re.IGNORECASE)
_OPENING = {
    name: re.compile(rf"<{name}(?:\s[^<>]*)?>", re.IGNORECASE)
    for name in ("num", "number", *(name for names in _NAMES.values() for name in names))
}
_CLOSING = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in _OPENING}
_LABEL = {part: re.compile(rf"\s*{label}\s*(?::|\n)", re.IGNORECASE) for part, label in _LABELS.items()}


def read_topics(
    path: Path, format: Format | None = None, *, parts: Sequence[Part] = ("title",),
    of_documents: Format | None = None,
) -> dict[str, str]:  # fmt: skip
    r"""Read topics as queries.

    Returns the text of each query by id, in the order of the file. Other parameters and errors as for `read_documents`;
    it is also an error if an id appears twice, if no topic has one of the parts, or if the format has no parts besides
    the title. A warning says if topics that were recognised as "smart" may be Cranfield's.

    Parameters
    ----------
    parts : sequence of {"title", "description", "narrative"}
        The parts of each topic that make up the query, in this order. TREC's topics have them, as SGML or XML, and
        topics in JSON Lines may have them, as fields. A topic that lacks a part is read without it. In other formats, a
        topic has a single text, which is its title.
    of_documents : str, optional
        The format of the documents, as in `Index.format`: topics that look like "smart" are then recognised as
        "cranfield", and others as "npl".

    Examples
    --------
    >>> import io
    >>> text = b"<top>\n<num> Number: 301\n<title> tied scores\n<desc> Description:\nHow often do scores tie?\n</top>\n"
    >>> read_topics(io.BytesIO(text))
    {'301': 'tied scores'}
    >>> read_topics(io.BytesIO(text), parts=["title", "description"])
    {'301': 'tied scores How often do scores tie?'}
    """
    chosen = _checked(parts)
    topics: dict[str, str] = {}
    found = dict.fromkeys(chosen, False)
    with TextFile(path) as text:
        found_format = format_of(text, format, of_documents)
        for name, topic in _topics(text, found_format, chosen):
            if name in topics:
                raise InputError(text.here(), f"the topic {name!r} appears twice")
            topics[name] = joined({part: topic[part] for part in chosen})
            found = {part: found[part] or topic[part] != "" for part in chosen}
        missing = [part for part in chosen if not found[part]]
        if topics and missing:
            others = ", ".join(part for part in PARTS if part not in chosen)
            hint = f"; other parts of topics are {others}" if others else ""
            raise InputError(text.name, f"no topic has a {missing[0]}{hint}")
        if format is None and found_format == "smart" and _have_gaps(list(topics)):
            numbers = f"the numbers of the topics have gaps ({', '.join(list(topics)[:4])} …)"
            remedy = "if these are its topics, give the format cranfield, otherwise smart"
            warn(f"{text.name}: {numbers}, as Cranfield's, whose judgments count the topics instead; {remedy}")
    return topics


def _have_gaps(names: list[str]) -> bool:
    """Return whether the names are numbers that ascend from 1, but leave some out."""
    numbers = [int(name) for name in names if name.isascii() and name.isdigit() and len(name) < 10]
    ascend = all(a < b for a, b in pairwise(numbers))
    return len(numbers) == len(names) > 1 and ascend and numbers[0] == 1 and numbers[-1] > len(numbers)


def _checked(parts: Any) -> tuple[Part, ...]:
    """Return the parts; raise InputError if there are none, or if one is unknown or given twice."""
    listed = sequence("parts", parts, "names of parts")
    for i, part in enumerate(listed):
        one_of(f"parts[{i}]", part, PARTS)
    if not listed or len(set(listed)) < len(listed):
        raise InputError("parts", f"must name at least one part, and each only once; found {shown(parts)}")
    return tuple(listed)


def _topics(text: TextFile, format: Format, parts: tuple[Part, ...]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the id and the parts of each topic."""
    # Topics may also have the form of TREC's documents.
    is_trec = format in ("trec", "cacm") and b"<docno>" not in text.beginning().lower()
    if is_trec:
        yield from _trec_topics(text)
    elif format == "jsonl" and parts != ("title",):
        yield from _json_topics(text)
    elif parts != ("title",):
        problem = "topics in this format have no parts besides the title; those in TREC's format and JSON Lines may"
        raise InputError(text.name, problem)
    else:
        reader = READERS["trec" if format == "cacm" else format]
        for number, (name, topic) in enumerate(reader(text), 1):
            # Cranfield's judgments do not use the numbers in the file of topics, but the positions.
            query = topic if isinstance(topic, str) else joined(topic)
            yield str(number) if format == "cranfield" else name, {"title": query}


def _trec_topics(text: TextFile) -> Iterator[tuple[str, Mapping[str, str]]]:
    for attributes, element in _topic_elements(text):
        content = _CDATA.sub(lambda found: html.escape(found[1]), element)
        number = _NUMBER.search(attributes)
        name = number[1].strip() if number else _element(content, "number", ("num", "number"))
        if not name:
            raise text.error("the topic that ends here has no <num>")
        topic = {part: _element(content, part, names) for part, names in _NAMES.items()}
        if number and not _ELEMENT.search(content):
            # An XML topic without elements is the text of its query.
            topic["title"] = without_tags(content)
        yield name, topic


def _topic_elements(text: TextFile) -> Iterator[tuple[str, str]]:
    """Yield the attributes and the content of each topic. A topic that is not closed ends where the next one begins."""
    attributes, inside, size, kind = "", list[str](), 0, ""
    is_open = False
    for line in text:
        start = 0
        for tag in _TOPIC.finditer(line):
            kind = kind or tag[2].lower()
            if tag[2].lower() != kind:
                continue
            if is_open:
                yield attributes, "\n".join([*inside, line[start : tag.start()]])
            is_open, attributes, inside, size, start = not tag[1], tag[3] or "", [], 0, tag.end()
        if is_open:
            inside.append(line[start:])
            size += len(line)
        if size > LONGEST:
            raise text.error(f"the topic is longer than {LONGEST >> 20} MB")
    if is_open:
        raise text.error("the file ends inside a topic: a closing tag is missing")


def _element(content: str, part: str, names: Sequence[str]) -> str:
    """Return the text of the first element with one of the names, without its label; "" if there is none."""
    for name in names:
        opening = _OPENING[name].search(content)
        if opening is None:
            continue
        rest = content[opening.end() :]
        end = _CLOSING[name].search(rest) or _NEXT.search(rest)
        inner = rest[: end.start()] if end else rest
        label = _LABEL[part].match(inner)
        return without_tags(inner[label.end() :] if label else inner)
    return ""


def _json_topics(text: TextFile) -> Iterator[tuple[str, Mapping[str, str]]]:
    for line, record in json_objects(text):
        name = id_of(record)
        topic = {
            part: next((record[each] for each in names if record.get(each) is not None), "")
            for part, names in _JSON_NAMES.items()
        }
        if name is None or not all(isinstance(each, str) for each in topic.values()):
            raise text.error(f"the object must have an id, and parts that are text; found {shown(line)}")
        yield name, topic
