"""Columns of judgments or runs as dicts, and hypothesis strategies for identifiers."""

from __future__ import annotations

from hypothesis import strategies as st

# Identifiers have few distinct characters, so that duplicates and prefixes occur. The hash treats short, medium and
# long identifiers differently, so all these lengths occur.
short = st.binary(max_size=3).map(lambda data: bytes(b"\0a\xff"[byte % 3] for byte in data))
long = st.builds(lambda length, end: b"x" * length + end, st.integers(0, 40), short)
identifier = st.one_of(short, long)


def as_dict(columns, values):
    queries, documents = list(columns.queries), list(columns.documents)
    return {
        queries[q]: {
            documents[row]: values[row].item() for row in range(columns.offsets[q], columns.offsets[q + 1])
        }
        for q in range(len(columns))
    }
