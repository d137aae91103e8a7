"""The lists of the conformance set: small rankings with ties, one family per function."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

Score = int | float
Label = int | float | None  # None: the document is not judged

# In no order: neither ascending nor descending, and d10 before d2 if identifiers are compared as text.
NAMES = ("d4", "d9", "d2", "d10", "d7", "d1", "d3", "d8")


class TiedList(NamedTuple):
    """A ranking with its judgments.

    `documents` has the identifier, score and label of each retrieved document, in the order of the run;
    `unretrieved` has the labels of judged documents that the run lacks.
    """

    name: str
    about: str
    tags: tuple[str, ...]
    documents: tuple[tuple[str, Score, Label], ...]
    unretrieved: tuple[int | float, ...] = ()

    @property
    def judgments(self) -> dict[str, int | float]:
        """Return the labels of all judged documents."""
        found = {document: label for document, _, label in self.documents if label is not None}
        return found | {f"u{i}": label for i, label in enumerate(self.unretrieved, 1)}

    @property
    def run(self) -> list[tuple[str, Score]]:
        """Return the retrieved documents with their scores."""
        return [(document, score) for document, score, _ in self.documents]


def _listed(
    name: str, about: str, tags: str, scores: Sequence[Score], labels: Sequence[Label],
    unretrieved: Sequence[int | float] = (), names: Sequence[str] = NAMES,
) -> TiedList:  # fmt: skip
    documents = tuple(zip(names[: len(scores)], scores, labels, strict=True))
    return TiedList(name, about, tuple(tags.split()), documents, tuple(unretrieved))


def _groups(sizes: Sequence[int]) -> list[Score]:
    """Return the scores of groups of these sizes, the best first."""
    return [float(len(sizes) - i) for i, size in enumerate(sizes) for _ in range(size)]


def lists() -> list[TiedList]:
    """Return all lists of the set."""
    families = (
        _all_tied, _cut_offs, _unretrieved, _unjudged, _graded, _real_labels, _numbers, _short, _without_relevant,
        _identifiers, _drawn,
    )  # fmt: skip
    return list(chain.from_iterable(family() for family in families))


def _all_tied() -> Iterator[TiedList]:
    """Yield constant scorers."""
    for n in range(2, 7):
        for relevant in range(1, min(n, 4)):
            labels = [0] * (n - relevant) + [1] * relevant
            about = f"All {n} documents tie, {relevant} of them relevant, in the last places of the run."
            yield _listed(f"all-tied-{relevant}-of-{n}-last", about, "all-tied", [0.5] * n, labels)
            about = f"All {n} documents tie, {relevant} of them relevant, in the first places of the run."
            yield _listed(f"all-tied-{relevant}-of-{n}-first", about, "all-tied", [0.5] * n, labels[::-1])
    yield _listed("all-tied-all-relevant", "All documents tie and are relevant.", "all-tied", [1.0] * 4, [1] * 4)


def _cut_offs() -> Iterator[TiedList]:
    """Yield tie groups at the cut-offs 1, 3 and 5, and across them."""
    shapes = ((1, 2, 2), (2, 3), (2, 2, 2), (1, 4, 1), (3, 3), (4, 3), (1, 2, 3), (3, 2, 2), (2, 4), (1, 1, 1, 3))
    for sizes in shapes:
        n = sum(sizes)
        ends = {sum(sizes[:i]) for i in range(1, len(sizes))}
        text = " + ".join(map(str, sizes))
        where = ", ".join(f"{'after' if k in ends else 'across' if k < n else 'beyond'} rank {k}" for k in (1, 3, 5))
        patterns = ([int(i % 3 == 2) for i in range(n)], [int(i % 2 == 1) for i in range(n)], [0] * (n - 1) + [1])
        for letter, labels in zip("abc", patterns, strict=True):
            about = f"Groups of {text} documents; boundaries {where}."
            yield _listed(f"groups-{'-'.join(map(str, sizes))}-{letter}", about, "cut-off", _groups(sizes), labels)


def _unretrieved() -> Iterator[TiedList]:
    """Yield relevant documents that the run lacks."""
    patterns = (((3,), [0, 1, 0]), ((1, 3), [0, 0, 1, 1]), ((2, 2), [1, 0, 0, 1]), ((4, 2), [0, 0, 0, 1, 0, 1]))
    for sizes, labels in patterns:
        for missing in ((1,), (1, 1, 0), (1, 1, 1, 1, 1)):
            about = f"The run lacks {sum(missing)} relevant documents."
            name = f"unretrieved-{'-'.join(map(str, sizes))}-{sum(missing)}"
            yield _listed(name, about, "unretrieved", _groups(sizes), labels, missing)
    about = "The run holds nonrelevant documents alone, and lacks both relevant ones."
    yield _listed("unretrieved-all", about, "unretrieved", _groups((1, 3)), [0] * 4, (1, 1))


def _unjudged() -> Iterator[TiedList]:
    """Yield retrieved documents without judgments, among judged ones."""
    patterns: tuple[tuple[tuple[int, ...], list[Label]], ...] = (
        ((3,), [None, 1, 0]), ((4,), [None, None, 1, 0]), ((2, 3), [None, 0, 1, None, 0]),
        ((1, 4), [None, None, 0, 1, 1]), ((2, 2, 2), [0, None, None, 1, 1, None]), ((5,), [None, None, None, None, 1]),
        ((1, 1, 3), [None, 0, 1, None, 1]), ((3, 3), [1, None, 0, 0, 1, None]),
    )  # fmt: skip
    for sizes, labels in patterns:
        name = f"unjudged-{'-'.join(map(str, sizes))}"
        about = f"{labels.count(None)} of {len(labels)} retrieved documents are not judged."
        yield _listed(name, about, "unjudged", _groups(sizes), labels)
        yield _listed(f"{name}-and-unretrieved", about, "unjudged unretrieved", _groups(sizes), labels, (1, 0, 0))
    yield _listed("unjudged-all", "No retrieved document is judged.", "unjudged", _groups((2, 2)), [None] * 4, (1, 0))


def _graded() -> Iterator[TiedList]:
    """Yield labels from 0 to 4."""
    patterns: tuple[tuple[tuple[int, ...], list[Label]], ...] = (
        ((2,), [1, 2]), ((3,), [0, 2, 1]), ((4,), [0, 1, 2, 3]), ((4,), [4, 0, 0, 2]), ((1, 3), [0, 1, 3, 0]),
        ((2, 3), [1, 0, 2, 2, 0]), ((2, 2, 2), [0, 3, 1, 1, 2, 0]), ((5,), [0, 0, 1, 2, 4]), ((3, 2), [2, 2, 2, 0, 4]),
        ((1, 4), [3, 0, 1, 1, 2]), ((6,), [0, 0, 0, 1, 2, 3]), ((2, 4), [0, 4, 1, 0, 3, None]),
    )  # fmt: skip
    for i, (sizes, labels) in enumerate(patterns, 1):
        about = f"Labels {', '.join('none' if label is None else str(label) for label in labels)} in groups of {sizes}."
        about = about.replace("(", "").replace(",)", "").replace(")", "")
        yield _listed(f"graded-{i:02}", about, "graded", _groups(sizes), labels)
        about = about[:-1] + "; the run lacks documents with the labels 2 and 1."
        yield _listed(f"graded-{i:02}-unretrieved", about, "graded unretrieved", _groups(sizes), labels, (2, 1))


def _real_labels() -> Iterator[TiedList]:
    """Yield labels that are not whole. They are sums of powers of two, so that every computer holds them exactly."""
    patterns: tuple[tuple[tuple[int, ...], list[Label]], ...] = (
        ((2,), [0.5, 1.5]), ((3,), [0.25, 1.0, 2.75]), ((4,), [0.0, 0.5, 1.0, 1.5]), ((1, 3), [0.75, 0, 1.25, 0]),
        ((2, 3), [0.5, 0.5, 1.0, 0.0, 3.5]), ((2, 2, 2), [0, 2.5, 0.125, 1, 1.5, 0]), ((5,), [0, 0, 0.5, 1.75, 4]),
        ((1, 4), [2.25, None, 0.5, 1.5, 0]),
    )  # fmt: skip
    for i, (sizes, labels) in enumerate(patterns, 1):
        about = f"Labels {', '.join('none' if label is None else str(label) for label in labels)}."
        yield _listed(f"real-labels-{i}", about, "real-labels", _groups(sizes), labels)
        about = about[:-1] + "; the run lacks documents with the labels 1.5 and 0.5."
        yield _listed(
            f"real-labels-{i}-unretrieved", about, "real-labels unretrieved", _groups(sizes), labels, (1.5, 0.5)
        )


def _numbers() -> Iterator[TiedList]:
    """Yield scores that are hard to compare."""
    infinity, least, above = math.inf, math.ulp(0.0), 1.0 + math.ulp(1.0)
    kinds: tuple[tuple[str, str, str, list[Score]], ...] = (
        ("negative-zero", "The scores 0.0 and -0.0 tie.", "zeros", [0.0, -0.0, 0.0, -0.0]),
        ("zeros-between", "0.0 and -0.0 tie between a positive and a negative score.", "zeros", [-1.0, -0.0, 0.0, 1.0]),
        ("integer-zero", "0, 0.0 and -0.0 tie.", "zeros integers", [0, -0.0, 0.0, 0]),
        ("infinity", "Two infinite scores tie.", "infinities", [math.inf, 1e308, infinity, 0.0]),
        ("negative-infinity", "Two scores of minus infinity tie.", "infinities", [-infinity, -1e308, -infinity, 0.0]),
        ("both-infinities", "Infinite scores of both signs.", "infinities", [-infinity, infinity, -infinity, infinity]),
        ("all-infinite", "All scores are infinite.", "infinities", [infinity] * 4),
        ("all-minus-infinite", "All scores are minus infinity.", "infinities", [-infinity] * 4),
        ("subnormal", "The least positive number exceeds 0.0.", "subnormal", [0.0, least, 0.0, least]),
        ("subnormal-signs", "Subnormal numbers of both signs, and 0.0.", "subnormal", [-least, 0.0, least, 0.0]),
        ("subnormal-gap", "Scores that differ by the least positive number.", "subnormal",
         [2.0**-1022, 2.0**-1022 + least, 2.0**-1022, 2.0**-1022 + least]),
        ("neighbours", "1 and the next double differ.", "double", [1.0, above, 1.0, above]),
        ("one-bit-apart", "Two documents rank before two others by one bit of their scores.", "double",
         [above, 1.0, 1.0, above]),
        ("float32-neighbours", "1 and the next single-precision number differ.", "single",
         [1.0, 1.0 + 2.0**-23, 1.0, 1.0 + 2.0**-23]),
        ("sum-of-tenths", "0.1 + 0.2 exceeds 0.3 by one bit.", "double", [0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2]),
        ("large", "Doubles above 2^53 that differ by 2.", "double", [2.0**53, 2.0**53 + 2, 2.0**53, 2.0**53 + 2]),
        ("greatest", "The greatest double and its neighbour.", "double",
         [1.7976931348623157e308, 1.7976931348623155e308, 1.7976931348623157e308, 1.7976931348623155e308]),
        ("integers", "Scores that are integers.", "integers", [2, 1, 2, 2]),
        ("integers-and-floats", "1 and 1.0 tie, 2 and 2.0 tie.", "integers", [1, 2.0, 1.0, 2]),
        ("negative", "Among negative scores, the one nearest to 0 is the best.", "negative",
         [-3.5, -0.25, -3.5, -0.25]),
        ("small-gap", "Scores that differ in the twelfth decimal do not tie.", "double",
         [0.999999999999, 0.999999999998, 0.999999999999, 0.999999999998]),
    )  # fmt: skip
    for name, about, tags, scores in kinds:
        yield _listed(f"score-{name}", about, f"scores {tags}", scores, [0, 1, 1, 0])
        yield _listed(f"score-{name}-reversed", about, f"scores {tags}", scores[::-1], [0, 0, 1, 0], (1,))


def _short() -> Iterator[TiedList]:
    """Yield lists of no document and of one."""
    yield _listed("empty", "The run has no document for the query.", "empty", [], [], (1, 0))
    yield _listed("empty-graded", "The run has no document for the query.", "empty graded", [], [], (2, 1, 3))
    for label in (0, 1, 3, None):
        text = "which is not judged" if label is None else f"whose label is {label}"
        about = f"One document, {text}; the run lacks a relevant one."
        yield _listed(f"one-{'unjudged' if label is None else label}", about, "one", [1.0], [label], (1,))
    yield _listed("one-alone", "One document, the relevant one.", "one", [0.0], [1])


def _without_relevant() -> Iterator[TiedList]:
    """Yield queries without relevant documents."""
    for n in (1, 3, 5):
        about = f"{n} tied documents, and no relevant document at all."
        yield _listed(f"no-relevant-{n}", about, "no-relevant", [1.0] * n, [0] * n)
    about = "Tied documents, some not judged, and no relevant document at all."
    yield _listed("no-relevant-unjudged", about, "no-relevant unjudged", [1.0] * 3, [0, None, None], (0,))


def _identifiers() -> Iterator[TiedList]:
    """Yield identifiers that comparisons other than of bytes would order differently."""
    kinds = (
        ("digits", "Identifiers are text: '10' comes before '9'.", ("9", "10", "2", "100")),
        ("cases", "Capital letters come before small ones.", ("b", "A", "a", "B")),
        ("prefixes", "An identifier comes after its prefix.", ("doc-1", "doc", "doc-10", "doc-")),
        ("bytes", "Identifiers are compared by code point, which is the order of their bytes in UTF-8.",
         ("\U0001f600", "z", "\uff5e", "é")),
    )  # fmt: skip
    for name, about, names in kinds:
        for letter, labels in (("a", [1, 0, 0, 0]), ("b", [0, 0, 1, 0]), ("c", [0, 1, 0, 1])):
            yield _listed(f"ids-{name}-{letter}", about, "identifiers all-tied", [1.0] * 4, labels, names=names)


def _drawn() -> Iterator[TiedList]:
    """Yield lists drawn at random, with few distinct scores."""
    rng = random.Random(1)
    for i in range(1, 41):
        n, distinct, top = 3 + int(4 * rng.random()), 1 + int(3 * rng.random()), 1 + 2 * (i % 2)
        scores = [float(int(distinct * rng.random())) for _ in range(n)]
        labels = [None if rng.random() < 0.15 else int((top + 1) * rng.random()) for _ in range(n)]
        missing = [int((top + 1) * rng.random()) for _ in range(int(3 * rng.random()))]
        if not any([*missing, *filter(None, labels)]):
            missing = [*missing, 1]
        tags = "drawn graded" if top > 1 else "drawn"
        yield _listed(f"drawn-{i:02}", "Drawn at random.", tags, scores, labels, missing)
