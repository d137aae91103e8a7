"""TREC files, read and written in plain Python, without the library."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

Qrels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


class Collection(NamedTuple):
    """The files of a test collection."""

    qrels: Path
    runs: tuple[Path, ...]


# A mark for tests that take seconds on the public collection. `make test` runs them on the generated collection only.
PUBLIC_IS_SLOW = pytest.mark.parametrize(
    "collection", ["generated", pytest.param("covid", marks=pytest.mark.slow)], indirect=True
)


def read_qrels(path: Path) -> Qrels:
    return {query: {d: int(label) for d, label in docs.items()} for query, docs in _read(path, 3).items()}


def read_scores(path: Path) -> Scores:
    return {query: {d: float(score) for d, score in docs.items()} for query, docs in _read(path, 4).items()}


def _read(path: Path, value: int) -> dict[str, dict[str, str]]:
    """Read the queries, the documents and the column with the given index."""
    rows: dict[str, dict[str, str]] = {}
    for line in path.read_text().splitlines():
        columns = line.split()
        if columns:
            rows.setdefault(columns[0], {})[columns[2]] = columns[value]
    return rows


def ranked(documents: list[str]) -> dict[str, float]:
    """Return distinct scores that rank the documents in the given order."""
    return {document: float(len(documents) - i) for i, document in enumerate(documents)}
