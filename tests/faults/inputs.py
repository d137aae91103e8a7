"""A small collection in files of every format, and its values."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backports import zstd

import tieaware

MEASURES = ("AP", "nDCG@10", "RR")

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    # The command zstd writes a checksum, too; without a checksum, corrupt data cannot be recognised.
    ".zst": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}),
}
TABLES = ("csv", "parquet", "arrow")


def texts(n_queries: int, depth: int, seed: int = 5) -> tuple[bytes, bytes]:
    """Return judgments and a run in TREC format: the same documents for every seed, with other scores and labels."""
    rng = random.Random(seed)
    qrels, run = [], []
    for q in range(n_queries):
        documents = [f"d{q * 7919 + 104729 * i}" for i in range(depth)]
        qrels += [f"q{q} 0 {d} {rng.randint(0, 2)}\n" for d in documents[::3]]
        rng.shuffle(documents)
        # The last document does not tie: a list that ends inside a tie may have been cut there, and causes a warning.
        scores = [*(rng.randint(1, depth // 2) for _ in documents[1:]), 0]
        run += [f"q{q} Q0 {d} {i} {score} tag\n" for i, (d, score) in enumerate(zip(documents, scores, strict=True))]
    return "".join(qrels).encode(), "".join(run).encode()


def in_tables(folder: Path, n_queries: int, depth: int) -> None:
    """Write the collection of `texts` as CSV, Parquet and Arrow files."""
    import pandas

    qrels, run = texts(n_queries, depth)
    for name, text, columns in (
        ("qrels", qrels, ["query", "iteration", "doc", "label"]),
        ("run", run, ["query", "q0", "doc", "rank", "score", "tag"]),
    ):
        table = pandas.DataFrame([line.split() for line in text.decode().splitlines()], columns=columns)
        table[columns[4 if name == "run" else 3]] = table[columns[4 if name == "run" else 3]].astype(int)
        table = table[["query", "doc", "score" if name == "run" else "label"]]
        table.to_csv(folder / f"{name}.csv", index=False)
        table.to_parquet(folder / f"{name}.parquet")
        table.to_feather(folder / f"{name}.arrow")


def result(qrels: Any, run: Any, threads: int = 1) -> tuple[Any, ...]:
    """Evaluate a run; return the queries and the bytes of the values, which tests can compare."""
    results = tieaware.evaluate(qrels, run, MEASURES, threads=threads)
    return results.queries, results.values.tobytes()
