"""Differential fuzzing: compare all engines and input formats with each other and with the reference.

    python fuzz/differential.py --seconds 60 [--seed 1] [--batch 7]

A batch consists of many lists, some measures, one tie rule, and scores with tiny differences. Labels are whole or real
numbers, or those of subtopics. Every list is evaluated
by every engine, with one thread and several, as a flat array and as a two-dimensional array, and in four input formats.
All values must be equal bit for bit. A few lists of each batch are compared with the reference. The seed and the number
of a batch determine its content, so these two numbers reproduce a failure.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas
import polars
import pyarrow
from batches import CATALOGUE, COARSE, FACES, LONG_CATALOGUE, Batch, draw_batch
from doors import check_catalogue, check_coarse, check_faces
from numpy.typing import NDArray

from tieaware import InputError, Measure, Qrels, Run, evaluate, parse_measure, read_qrels, reference
from tieaware.engine import engine_choice
from tieaware.engine.engine_choice import EngineChoice
from tieaware.engine.means import means
from tieaware.engine.views import View, passes
from tieaware.inputs.runs import grouping, streamed
from tieaware.ties import RULES

# Force counting, locating, or mixtures of both; force sorting, except for lists that cannot be sorted; or let the cost
# model choose.
ENGINES = (
    EngineChoice(10**9, False), EngineChoice(0, False), EngineChoice(3, False), EngineChoice(16, False),
    EngineChoice(sorting=True), EngineChoice(0, sorting=True), EngineChoice(),
)  # fmt: skip
LONGEST_OF_ALL_VALUES = 16
# The reference enumerates all orders of tied documents for the means of these measures, and for the variances of
# measures of diversity. That is done for lists of at most this many documents.
ENUMERATED = {"INST", "BPM", "O", "PPlus"}
LONGEST_OF_ALL_ORDERS = 6
# The reference adds numbers in another order than the kernels, so the results differ by rounding.
TOLERANCE = 1e-12


def by_engines(batch: Batch) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield (name, outputs) for every engine, for several threads, for rows, and for two-dimensional arrays."""
    lists = batch.lists
    n = len(lists.offsets) - 1
    evaluator = batch.evaluator()
    (wanted,) = passes([View(batch.ties, batch.precision, batch.spread)])
    for choice in ENGINES:
        with mock.patch.object(engine_choice, "CHOICE", choice):
            prepared = evaluator._prepare(wanted)
        values = np.full((4 if batch.spread else 1, n, len(batch.measures)), np.nan)
        failed = prepared.evaluate(lists.scores, values)
        assert failed == -1, f"query {failed} has a NaN"
        yield str(choice), values

    yield "an evaluator", batch.outputs(evaluator, lists.scores)
    threads = 2 + n % 4
    yield f"{threads} threads", batch.outputs(batch.evaluator(threads), lists.scores)
    middle = n // 3
    chunks = [
        batch.outputs(evaluator.rows(first, last), lists.scores[lists.offsets[first] : lists.offsets[last]])
        for first, last in ((0, middle), (middle, n))
    ]
    yield "rows", np.concatenate(chunks, axis=1)
    if batch.rectangular:
        in_rows = batch.evaluator(in_rows=True)
        yield "two dimensions", batch.outputs(in_rows, lists.scores.reshape(n, -1))
        yield "two dimensions, column-major", batch.outputs(in_rows, np.asfortranarray(lists.scores.reshape(n, -1)))
        yield "two dimensions, given flat", batch.outputs(in_rows, lists.scores)


def check_means(batch: Batch) -> None:
    """Compare the results of `mean`, `many` and `columns` with the means of the values."""
    scores = batch.lists.scores
    evaluator = batch.evaluator(threads=2)
    candidates = np.stack([scores, -scores, np.zeros_like(scores)])
    expected = np.stack([means(evaluator(candidate), evaluator.measures) for candidate in candidates])
    found = {
        "many": evaluator.many(candidates),
        "columns": evaluator.columns(candidates.T),
        "mean": np.stack([evaluator.mean(candidate) for candidate in candidates]),
    }
    for name, values in found.items():
        assert values.tobytes() == expected.tobytes(), f"evaluator.{name} does not return the means of the values"


def by_inputs(batch: Batch, rng: random.Random, folder: Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield (name, outputs) for four forms of the same lists, such as files, dicts, frames and columns."""
    lists = batch.lists
    queries = [f"q{q}" for q in range(len(lists.offsets) - 1)]
    of_row = [queries[q] for q in lists.query.tolist()]
    scores = lists.scores.astype(np.float64)
    judged = judgments_of(batch, queries, of_row)
    columns = {"query_id": of_row, "doc_id": lists.documents, "score": scores}
    text = "".join(
        f"{query} Q0 {document} 1 {score!r} t\n"
        for query, document, score in zip(of_row, lists.documents, scores.tolist(), strict=True)
    ).encode()

    def in_dict() -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for query, document, score in zip(of_row, lists.documents, scores.tolist(), strict=True):
            found.setdefault(query, {})[document] = score
        return found

    def written(content: bytes) -> Path:
        path = folder / "a.run"
        path.write_bytes(content)
        return path

    # The first rows of all queries, then the second ones, …: the rows of each query keep their order.
    scattered = np.argsort(np.arange(len(of_row)) - lists.offsets[lists.query], kind="stable")

    def scattered_file() -> Path:
        lines = text.splitlines(keepends=True)
        return written(b"".join(lines[row] for row in scattered.tolist()))

    forms: dict[str, Callable[[], Any]] = {
        "a dict": in_dict,
        "columns": lambda: Run.from_columns(of_row, lists.documents, lists.scores),
        "pandas": lambda: pandas.DataFrame(columns),
        "polars": lambda: polars.DataFrame(columns),
        "arrow": lambda: pyarrow.table(columns),
        "a file": lambda: written(text),
        "a compressed file": lambda: written(gzip.compress(text, 1, mtime=0)),
        "a file object": lambda: io.BytesIO(text),
    }
    rows_apart: dict[str, Callable[[], Any]] = {
        "a scattered file": scattered_file, "a scattered table": lambda: pyarrow.table(columns).take(scattered),
        "a scattered frame": lambda: polars.DataFrame(columns)[scattered],
    }  # fmt: skip
    for name in (*rng.sample(list(forms), 3), rng.choice(list(rows_apart))):
        form = (forms | rows_apart)[name]()
        for threads in (1, rng.choice((2, 3, 5))) if isinstance(form, Path) else (2,):
            results = evaluate(
                judged, form, batch.measures, ties=batch.ties, precision=batch.precision, spread=batch.spread,
                threads=threads,
            )  # fmt: skip
            outputs = (results.values, results.std, results.min, results.max) if batch.spread else (results.values,)
            yield f"{name}, threads={threads}", np.stack([output[0] for output in outputs])


def judgments_of(batch: Batch, queries: list[str], of_row: list[str]) -> Qrels:
    """Return the judgments from a file, or from a frame in which NaN means that a document of the pool is not judged.

    Documents of label -1 are outside the pool, so they are left out. Every query has a judged document outside its
    list. These rows come first, so they fix the order of the queries and of the subtopics.
    """
    lists = batch.lists
    names = [queries[q] for q in lists.query_of_others.tolist()] + of_row
    documents = lists.other_documents + lists.documents
    labels = np.concatenate([lists.others, lists.labels])
    rows, subtopics = np.nonzero(labels.reshape(len(labels), -1) != -1)
    chosen = labels.reshape(len(labels), -1)[rows, subtopics]
    if batch.missing:
        columns = {
            "query_id": [names[row] for row in rows.tolist()], "doc_id": [documents[row] for row in rows.tolist()],
            "relevance": np.where(chosen < 0, np.nan, chosen),
        } | ({"subtopic": subtopics.astype(str)} if batch.subtopics else {})  # fmt: skip
        return Qrels.from_frame(pandas.DataFrame(columns), missing="unjudged")
    text = "".join(
        f"{names[row]} {subtopic} {documents[row]} {max(label, -1)!r}\n"
        for row, subtopic, label in zip(rows.tolist(), subtopics.tolist(), chosen.tolist(), strict=True)
    )
    return read_qrels(io.BytesIO(text.encode()), subtopics=batch.subtopics)


def check_reference(batch: Batch, values: NDArray[np.float64], rng: random.Random) -> int:
    """Compare a few lists with the reference; return the number of compared lists."""
    lists = batch.lists
    judged, judged_offsets = lists.judgments
    lengths = np.diff(lists.offsets)
    short = np.flatnonzero(lengths <= 200).tolist()
    chosen = rng.sample(short, min(4, len(short))) if batch.precision is None else []
    for q in chosen:
        rows = slice(lists.offsets[q], lists.offsets[q + 1])
        scores, documents = lists.scores[rows].tolist(), lists.documents[rows]
        both = lists.labels[rows], judged[judged_offsets[q] : judged_offsets[q + 1]]
        for i, measure in enumerate(batch.measures):
            parsed = parse_measure(measure)
            labels, all_labels = (of_reference(each, parsed) for each in both)
            if RULES[batch.ties].extreme and parsed.definition.own_extremes(parsed):
                # The reference orders tied documents by label, which is not the best or worst order for these measures.
                continue
            is_short = len(scores) <= LONGEST_OF_ALL_ORDERS
            if parsed.name in ENUMERATED and batch.ties == "average" and not is_short:
                continue
            expected = reference.evaluate(measure, scores, labels, all_labels, batch.ties, documents)
            found = values[0, q, i]
            assert abs(found - expected) <= TOLERANCE * max(1, abs(expected)), (
                f"{measure}: {found!r}, and {expected!r} in the reference; {scores} {labels} {all_labels} {documents}"
            )
            # The reference has no variance of infAP. For IAP11 it enumerates all possible values, which takes long.
            known = parsed.name != "infAP" and (parsed.name != "IAP11" or len(labels) <= LONGEST_OF_ALL_VALUES)
            if batch.spread and known and (is_short or not parsed.definition.needs_subtopics):
                variance = reference.variance(measure, scores, labels, all_labels)
                assert abs(values[1, q, i] ** 2 - variance) <= 1e-13 + 1e-8 * variance, (
                    f"{measure}: std {values[1, q, i]!r}, and {variance**0.5!r}; {scores} {labels} {all_labels}"
                )
    return len(chosen)


def of_reference(labels: NDArray[Any], measure: Measure) -> list[Any]:
    """Return labels as the reference takes them: tuples for subtopics, and the highest ones for other measures."""
    if measure.definition.needs_subtopics:
        return [tuple(each) for each in np.maximum(labels, -1).tolist()]
    if labels.ndim == 2:
        highest = labels.max(axis=1)
        # A document is in the pool if it is so for one subtopic, although -2, which stands for that, is less than -1.
        return np.where((highest == -1) & (labels < -1).any(axis=1), labels.min(axis=1), highest).tolist()
    return labels.tolist()


def draw_limits(rng: random.Random) -> None:
    """Draw the limits of the readers. With low limits, several threads read even small files, and few rows spill."""
    streamed.SMALLEST = rng.choice((1 << 10, 1 << 16, 1 << 20))
    streamed.CHUNK = rng.choice((1 << 10, 1 << 16, 1 << 22))
    streamed.CHUNK_ROWS = rng.choice((100, 1 << 16))
    streamed.BATCH_ROWS = streamed.BATCH_ROWS = rng.choice((300, 5_000, 1 << 18))
    grouping.BUCKETS = rng.choice((4, 256))
    grouping.HELD = rng.choice((1 << 12, 1 << 16, 1 << 26))
    grouping.SMALL = rng.choice((1 << 10, 1 << 14, 1 << 21))


def check_small(seed: int, number: int, rng: random.Random) -> Counter[str]:
    """Compare small batches that differ from the batch with this number, in ways of their own."""
    counts: Counter[str] = Counter()
    for kind, compare in (
        (CATALOGUE, check_catalogue), (LONG_CATALOGUE, check_catalogue), (COARSE, check_coarse), (FACES, check_faces),
    ):  # fmt: skip
        batch = draw_batch(seed, number, kind)
        compare(batch, rng)
        counts["lists"] += len(batch.lists.offsets) - 1
    return counts


def check(batch: Batch, rng: random.Random, folder: Path) -> Counter[str]:
    """Evaluate a batch in every way. If values differ, raise AssertionError that describes the first such list."""
    counts = Counter(batches=1, lists=len(batch.lists.offsets) - 1, documents=len(batch.lists.scores))
    first_name, first = None, np.empty(0)
    draw_limits(rng)
    ways = [*by_engines(batch), *by_inputs(batch, rng, folder)]
    for name, values in ways:
        if first_name is None:
            first_name, first = name, values
            assert not np.isnan(values).any(), "a value is NaN"
        if values.tobytes() != first.tobytes():
            output, query, measure = np.argwhere(values.view(np.int64) != first.view(np.int64))[0].tolist()
            raise AssertionError(
                f"{first_name} and {name} differ: {first[output, query, measure]!r} and "
                f"{values[output, query, measure]!r}, output {output}, {batch.description(query, measure)}"
            )
        counts["evaluations"] += len(values[0])
    if not batch.spread:
        check_means(batch)
    counts["in the reference"] = check_reference(batch, first, rng)
    return counts


def main() -> int:
    """Evaluate batches until the time is over; return 1 if two ways give different values."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, help="evaluate only the batch with this number")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    numbers = iter([options.batch]) if options.batch is not None else iter(range(10**9))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            batch = draw_batch(options.seed, number)
            try:
                counts += check_small(options.seed, number, random.Random(number))
                counts += check(batch, random.Random(number), Path(folder))
            except Exception as error:
                # docs/measures.md says which measures refuse large tie groups.
                if isinstance(error, InputError) and "takes too" in str(error):
                    counts["refused"] += 1
                    continue
                print(f"--seed {options.seed} --batch {number}: {error}", file=sys.stderr)
                if not isinstance(error, AssertionError):
                    raise
                return 1
            if time.monotonic() - start > options.seconds:
                break
    print(json.dumps({"target": "differential", "seed": options.seed, **counts}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
