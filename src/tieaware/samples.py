"""Sample collections: a seeded generator of TREC-like topics, pooled judgments and runs whose scores tie.

Queries and documents are vectors, relevance is the cosine between them, and each scorer sees both through
noise. What sets the scorers apart is the *precision* of their scores, from a 64-bit float to a constant, and
so how much of a ranking is left to ties. Then a pool of the best documents of each run is judged.

A small collection of this kind is embedded in the package: `load` reads it, `sample_files` locates it, and
``python -m tieaware.samples --compress --out DIR`` makes it anew. `discrete_lists` is for benchmarks.

The same seed gives the same bytes on every processor. Random numbers are drawn as bytes and vectors hold
integers, so their dot products are exact in whatever order they are summed; what follows uses only operations
that IEEE 754 rounds correctly: no logarithm, power or sine.
"""

from __future__ import annotations

import argparse
import lzma
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

__all__ = [
    "RUN_NAMES", "Collection", "DiscreteLists", "discrete_lists", "generate", "load", "sample_files", "write"
]

#: The runs of a generated collection, in the order in which `load` gives them.
RUN_NAMES = ("continuous", "two-decimals", "bfloat16", "int8-dot", "grader-0-10", "constant")

_ASPECTS = ("Causes", "Costs", "Early signs", "Effects", "History", "Measurement", "Prevention", "Regulation")
_PLACES = ("alpine", "arctic", "coastal", "deep-sea", "inland", "rural", "tropical", "urban")
_SUBJECTS = ("erosion", "farming", "fishing", "flooding", "migration", "noise", "shipping", "tourism")

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Collection:
    """A test collection: plain dictionaries.

    ``topics`` is ``{query: title}``, ``qrels`` is ``{query: {document: label}}`` and ``runs`` is
    ``{name: {query: {document: score}}}``, in the order of the run. Labels are 0 (not relevant) to 3 (highly
    relevant); -1 marks a document that was pooled but never judged.
    """

    topics: dict[str, str]
    qrels: dict[str, dict[str, int]]
    runs: dict[str, dict[str, dict[str, float]]]


class DiscreteLists(NamedTuple):
    """Many scored lists as flat arrays: list ``i`` holds the rows ``offsets[i]`` to ``offsets[i + 1]``."""

    scores: NDArray[np.float64]
    labels: NDArray[np.int32]
    offsets: NDArray[np.int64]


def generate(
    seed: int = 2008,
    n_queries: int = 50,
    depth: int = 100,
    *,
    n_documents: int = 10_000,
    pool_depth: int = 20,
) -> Collection:
    """Generate a collection whose runs report scores of different precision.

    The runs are noisy views of the same relevance:

    - ``continuous``: a cosine in float64; documents practically never tie.
    - ``two-decimals``: a score as large as those of BM25, to two decimals.
    - ``bfloat16``: a cosine rounded to bfloat16.
    - ``int8-dot``: the dot product of vectors quantised to int8, an integer.
    - ``grader-0-10``: a grade from 0 to 10, as language models give, of the documents that ``continuous``
      retrieved. Equal grades stay in the order in which they were retrieved.
    - ``constant``: 1 for every document. It lists its candidates as data sets for re-ranking do, the
      judged-relevant ones first. An evaluator that breaks ties by input order therefore gives this scorer,
      which knows nothing, the perfect reciprocal rank 1.0 on every query.

    The first four list tied documents by ascending identifier, as most archived runs do.

    Parameters
    ----------
    seed : int, default 2008
        Seeds NumPy's PCG64. The same arguments give the same collection, whatever the processor.
    n_queries, n_documents : int, default 50 and 10,000
        How many queries are asked, and how many documents are searched.
    depth : int, default 100
        How many documents a run lists for a query.
    pool_depth : int, default 20
        How many documents of each run are judged, from the first rank on.

    Returns
    -------
    Collection
        Judgments pool every run but ``constant``, and a manual search that is not among the runs: so some
        judged documents, relevant ones too, are retrieved by no scorer. Every query has a relevant document.

    Raises
    ------
    ValueError
        If `seed` is negative, another number below 1, or `n_documents` below `depth`.

    Examples
    --------
    >>> collection = generate(n_queries=1, depth=4, pool_depth=2)
    >>> collection.qrels["q101"]  # doctest: +NORMALIZE_WHITESPACE
    {'D-0001210': 0, 'D-0003818': 0, 'D-0004203': 2, 'D-0005792': 3, 'D-0005998': 3, 'D-0007389': 1,
     'D-0008965': 0}
    >>> collection.runs["grader-0-10"]["q101"]
    {'D-0004203': 8.0, 'D-0007389': 8.0, 'D-0002402': 6.0, 'D-0007845': 3.0}
    >>> list(collection.runs["constant"]["q101"])
    ['D-0004203', 'D-0005792', 'D-0005998', 'D-0007389']
    """
    _require(seed=(seed, 0), n_queries=(n_queries, 1), depth=(depth, 1), pool_depth=(pool_depth, 1))
    _require(n_documents=(n_documents, depth))
    rng = Generator(PCG64(seed))
    words = _bytes(rng, 3, n_queries) % 8
    # The cube of a uniform number: many queries with few relevant documents, few queries with many.
    n_relevant = 3 + 50 * _bytes(rng, n_queries) ** 3 // 255**3
    queries, documents = _bell(rng, n_queries), _bell(rng, n_documents)
    most_relevant = np.argsort(-_cosines(queries, documents), axis=1, kind="stable")
    retrieved = _retrieve(rng, queries, documents, depth)
    forgotten = _bytes(rng, n_queries, n_documents) < 4

    identifier = [f"D-{document:07d}" for document in range(n_documents)]
    topics, qrels = {}, {}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in RUN_NAMES}
    for row in range(n_queries):
        query = f"q{101 + row}"
        aspect, place, subject = words[:, row]
        topics[query] = f"{_ASPECTS[aspect]} of {_PLACES[place]} {_SUBJECTS[subject]}"
        for name, (listed, scores) in retrieved.items():
            runs[name][query] = {
                identifier[document]: float(score)
                for document, score in zip(listed[row], scores[row], strict=True)
            }

        # The manual search finds every other of the most relevant documents, the first one always among them.
        pool = set(most_relevant[row, : 2 * pool_depth : 2].tolist())
        pool.update(*(listed[row, :pool_depth].tolist() for listed, _ in retrieved.values()))
        n = int(n_relevant[row])
        label = {
            document: 1 + (rank < n // 3) + (rank < n // 10)
            for rank, document in enumerate(most_relevant[row, :n].tolist())
        }
        qrels[query] = {
            identifier[document]: label.get(document, -int(forgotten[row, document]))
            for document in sorted(pool)
        }
        # `sorted` is stable: what is not relevant follows in the order of the identifiers, then of retrieval.
        candidates = sorted(qrels[query], key=lambda document: qrels[query][document] < 1)
        candidates = list(dict.fromkeys([*candidates, *runs["continuous"][query]]))
        runs["constant"][query] = dict.fromkeys(candidates[:depth], 1.0)
    return Collection(topics, qrels, runs)


def _retrieve(
    rng: Generator, queries: _Floats, documents: _Floats, depth: int
) -> dict[str, tuple[_Integers, _Floats]]:
    """List the documents of each scorer, and their scores: both of shape [n_queries, depth]."""
    # Scorers err alike: they share a drift of the query, which makes topics hard, and noise on the documents.
    hardness = _bytes(rng, len(queries), 1) // 40
    queries = 8 * queries + hardness * _bell(rng, len(queries))
    documents = 8 * documents + 3 * _bell(rng, len(documents))

    def view(noise: int) -> _Floats:
        return documents + noise * _bell(rng, len(documents))

    scores = {
        "continuous": _cosines(queries, view(1)),
        "two-decimals": np.rint(2000 * _cosines(queries, view(2))) / 100,
        "bfloat16": _round_to_bfloat16(_cosines(queries, view(2))),
        "int8-dot": _quantised(queries) @ _quantised(view(2)).T,
    }
    retrieved = {name: _best(values, depth) for name, values in scores.items()}
    candidates, _ = retrieved["continuous"]
    grades = np.clip(np.floor(22 * _cosines(queries, view(3)) - 7), 0, 10)
    order, grades = _best(np.take_along_axis(grades, candidates, axis=1), depth)
    retrieved["grader-0-10"] = np.take_along_axis(candidates, order, axis=1), grades
    return retrieved


def _bytes(rng: Generator, *shape: int) -> _Integers:
    return np.frombuffer(rng.bytes(math.prod(shape)), dtype=np.uint8).reshape(shape).astype(np.int64)


def _bell(rng: Generator, n: int) -> _Floats:
    """Draw `n` vectors of 20 components, each the sum of eight bytes: an integer, and close to normal."""
    sums: _Integers = _bytes(rng, n, 20, 8).sum(axis=2)
    return (sums - 1020).astype(np.float64)


def _cosines(queries: _Floats, documents: _Floats) -> _Floats:
    squares = (queries**2).sum(axis=1)[:, np.newaxis] * (documents**2).sum(axis=1)
    cosines: _Floats = queries @ documents.T / np.sqrt(squares)
    return cosines


def _quantised(vectors: _Floats) -> _Floats:
    """Round unit vectors to int8, in steps that leave room for outliers, as a calibration does."""
    quantised: _Floats = np.rint(32 * vectors / np.sqrt((vectors**2).sum(axis=1, keepdims=True)))
    return quantised


def _best(scores: _Floats, depth: int) -> tuple[_Integers, _Floats]:
    """Take the columns with the highest scores of each row, tied ones ascending, and those scores."""
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    return columns, np.take_along_axis(scores, columns, axis=1)


def _require(**numbers: tuple[int, int]) -> None:
    for name, (value, least) in numbers.items():
        if value < least:
            raise ValueError(f"{name}={value}: expected at least {least}")


def _round_to_bfloat16(values: _Floats) -> _Floats:
    """Round to the nearest bfloat16 number, ties to even, once: without a stop at float32."""
    bits = values.view(np.uint64)
    # bfloat16 has 45 bits fewer. Adding just under half of the last one that stays, and 1 if that is odd,
    # carries into it exactly when rounding goes up.
    half = np.uint64(2**44 - 1) + (bits >> np.uint64(45) & np.uint64(1))
    return (bits + half & np.uint64(2**64 - 2**45)).view(np.float64)


def discrete_lists(
    n_queries: int = 28_043,
    seed: int = 2008,
    *,
    mean_length: float = 300,
    relevant: float = 0.02,
    grades: int = 1,
) -> DiscreteLists:
    """Generate ranked lists whose score is a discrete feature, for benchmarks.

    They mirror the setting of McSherry and Najork (ECIR 2008), who evaluated features such as a page's
    in-degree over 28,043 queries with about 2,400 documents each. Lengths follow a power law with exponent 3.
    The score is like an in-degree: k or more with probability 1 / (k + 1), so half of the documents tie at 0
    and a sixth at 1, while high scores are rare. Relevant documents have the larger of two draws.

    Parameters
    ----------
    n_queries, seed : int, default 28,043 and 2008
        The number of lists, and the seed of NumPy's PCG64.
    mean_length : float, default 300
        Documents a query, about; at least 1. Every list has half as many or more, and is not empty.
    relevant : float, default 0.02
        The share of documents that are relevant, about; 0 to 1. Each list has at least one.
    grades : int, default 1
        Relevant documents have labels from 1 to `grades`, higher ones being rarer; the others 0.

    Returns
    -------
    DiscreteLists
        ``scores``, float64[n_docs], unsorted; ``labels``, int32[n_docs]; ``offsets``, int64[n_queries + 1].

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> scores, labels, offsets = discrete_lists(1000)
    >>> float((scores == 0).mean().round(1))
    0.5
    """
    _require(n_queries=(n_queries, 1), seed=(seed, 0), grades=(grades, 1))
    if not 1 <= mean_length < math.inf:
        raise ValueError(f"mean_length={mean_length}: expected a finite number, at least 1")
    if not 0 <= relevant <= 1:
        raise ValueError(f"relevant={relevant}: expected a share between 0 and 1")
    rng = Generator(PCG64(seed))
    # `1 - rng.random(n)` lies in (0, 1]. Its inverse has exponent 2, the inverse of its root exponent 3.
    lengths = np.maximum(1, mean_length / 2 / np.sqrt(1 - rng.random(n_queries))).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n_docs = int(offsets[-1])

    one_each = offsets[:-1] + rng.integers(lengths)
    others = rng.integers(n_docs, size=max(0, round(relevant * n_docs) - n_queries))
    chosen = np.concatenate([one_each, others])
    labels = np.zeros(n_docs, dtype=np.int32)
    labels[chosen] = np.minimum(grades, np.floor(1 / (1 - rng.random(len(chosen))))).astype(np.int32)

    # In place: lists as long as the paper's hold 67 million scores.
    scores = rng.random(n_docs)
    np.subtract(1, scores, out=scores)
    scores[chosen] = np.minimum(scores[chosen], 1 - rng.random(len(chosen)))
    np.divide(1, scores, out=scores)
    np.floor(scores, out=scores)
    scores -= 1
    return DiscreteLists(scores, labels, offsets)


def write(collection: Collection, folder: str | os.PathLike[str], *, compress: bool = False) -> None:
    """Write a collection as TREC files: topics.tsv, qrels.txt and runs/<name>.run.

    Scores get the shortest text that reads back exactly. With `compress`, each file is compressed with xz and
    ``.xz`` added to its name. `folder` must be new (else FileExistsError): it appears only when complete.
    """
    folder = Path(folder).absolute()
    if folder.exists():
        raise FileExistsError(f"{folder}: exists; expected a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as staging:
        # The folder to be is inside the temporary one, which only its owner may read.
        complete = Path(staging, folder.name)
        for name, text in _texts(collection):
            path = complete / (name + ".xz" if compress else name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(lzma.compress(text.encode(), preset=9) if compress else text.encode())
        complete.rename(folder)


def _texts(collection: Collection) -> Iterator[tuple[str, str]]:
    """Make the name and the content of each file."""
    yield "topics.tsv", "".join(f"{query}\t{title}\n" for query, title in collection.topics.items())
    yield "qrels.txt", "".join(
        f"{query} 0 {document} {label}\n"
        for query, labels in collection.qrels.items()
        for document, label in labels.items()
    )
    for name, run in collection.runs.items():
        # repr is the shortest text that reads back exactly; an integer needs no ".0" for that.
        yield f"runs/{name}.run", "".join(
            f"{query} Q0 {document} {rank} {repr(float(score)).removesuffix('.0')} {name}\n"
            for query, scores in run.items()
            for rank, (document, score) in enumerate(scores.items(), start=1)
        )


def sample_files() -> Path:
    """Locate the embedded sample: a folder with topics.tsv.xz, qrels.txt.xz and runs/<name>.run.xz.

    It is read-only, and always a folder on disk: compiled modules cannot be imported from an archive either.
    """
    return Path(str(files("tieaware") / "data" / "sample"))


def load(folder: str | os.PathLike[str] | None = None) -> Collection:
    """Read a collection that `write` wrote, compressed or not.

    `folder` is the embedded sample by default; FileNotFoundError says what it lacks. Runs are in the order of
    `RUN_NAMES`, then in alphabetic order.

    Examples
    --------
    >>> set(load().runs["constant"]["q101"].values())
    {1.0}
    """
    folder = sample_files() if folder is None else Path(folder)
    topics = dict(line.split("\t") for line in _lines(folder / "topics.tsv"))
    qrels: dict[str, dict[str, int]] = {}
    for query, _, document, label in map(str.split, _lines(folder / "qrels.txt")):
        qrels.setdefault(query, {})[document] = int(label)
    names = {path.name.removesuffix(".xz").removesuffix(".run") for path in folder.glob("runs/*.run*")}
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for name in [*(name for name in RUN_NAMES if name in names), *sorted(names.difference(RUN_NAMES))]:
        run = runs[name] = {}
        for query, _, document, _, score, _ in map(str.split, _lines(folder / "runs" / f"{name}.run")):
            run.setdefault(query, {})[document] = float(score)
    return Collection(topics, qrels, runs)


def _lines(path: Path) -> list[str]:
    """Read the lines of a file, or of the one with .xz added to its name if there is one."""
    compressed = path.with_name(path.name + ".xz")
    data = lzma.decompress(compressed.read_bytes()) if compressed.exists() else path.read_bytes()
    return data.decode().splitlines()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a generated collection: ``python -m tieaware.samples --out DIR``."""
    parser = argparse.ArgumentParser("python -m tieaware.samples", description="Write a sample collection.")
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder to make")
    parser.add_argument("--seed", type=int, default=2008, help="(default: %(default)s)")
    parser.add_argument("--queries", type=int, default=50, help="(default: %(default)s)")
    parser.add_argument("--depth", type=int, default=100, help="documents per query (default: %(default)s)")
    parser.add_argument("--compress", action="store_true", help="write .xz files")
    options = parser.parse_args(arguments)
    try:
        collection = generate(options.seed, options.queries, options.depth)
        write(collection, options.out, compress=options.compress)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
