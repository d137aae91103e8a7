"""TREC's diversity judgments: lines "query subtopic document label", as of the web tracks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tieaware.errors import InputError
from tieaware.inputs.part_streams import TextStream
from tieaware.inputs.subtopic_rows import SubtopicLists
from tieaware.inputs.text import Lines, number_in
from tieaware.lists.grades import Missing, whole_or_real
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import grouped

_LARGEST = 2**31 - 1


def diversity_judgments(
    stream: TextStream, problem: Callable[[bytes, bool], str], missing: Missing | None = None
) -> SubtopicLists:
    """Read judgments whose second field is the subtopic.

    Parameters
    ----------
    stream : TextStream
    problem : callable
        Takes a line that does not have four fields, and whether it is the first one that is not empty; says
        what is wrong.
    missing : "unjudged", optional
        Whether the label "nan" means that a document is unjudged.

    Raises
    ------
    InputError
        A line is malformed, the file has no row, a query has too many subtopics, or a document has two different labels
        for a subtopic.
    """
    queries: list[bytes] = []
    subtopics: list[bytes] = []
    documents: list[bytes] = []
    labels: list[float] = []
    lines: list[int] = []
    text = Lines(stream)
    for line in text:
        fields = line.split(None, 6)
        if not fields or fields[0].startswith(b"#"):
            continue
        label = -1 if missing and _is_nan(fields) else _label(fields)
        if label is None:
            stream.check_rest()
            what = problem(line, not lines)
            if len(fields) == 4:
                what = f"the label, field 4, must be a number from -2147483648 to 2147483647, not {quoted(fields[3])}"
            raise InputError(text.here(), what)
        queries.append(fields[0])
        subtopics.append(fields[1])
        documents.append(fields[2])
        labels.append(label)
        lines.append(text.number)
    if not lines:
        line_of = '"query subtopic document label"'
        raise InputError(stream.source_name, f"the file has no lines of the form {line_of}")
    lists = grouped(
        Identifiers.from_sequence(queries),
        np.arange(len(lines) + 1),
        Identifiers.from_sequence(documents),
        whole_or_real(np.array(labels, np.float64), "label"),
    )
    return SubtopicLists.of_rows(
        lists, Identifiers.from_sequence(subtopics), stream.source_name, lambda row: stream.place(lines[row])
    )


def _label(fields: list[bytes]) -> float | None:
    """Return the label of a line of judgments; None if the line is malformed."""
    try:
        label = number_in(fields[3]) if len(fields) == 4 else math.nan
    except ValueError:
        return None
    return label if -_LARGEST - 1 <= label <= _LARGEST else None


def _is_nan(fields: list[bytes]) -> bool:
    return len(fields) == 4 and fields[3].lower() == b"nan"
