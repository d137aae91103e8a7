"""Columns written to files, in every format that is read; the end of the name says which."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet


def in_rows(columns):
    """Return the rows of columns of equal length."""
    return list(zip(*columns.values(), strict=True))


def trec_lines(columns):
    """Return the lines of a run from columns of queries, documents and scores."""
    return "".join(f"{query} Q0 {doc} 0 {score!r} tag\n" for query, doc, score in in_rows(columns))


def json_lines(columns):
    """Return an object for each row."""
    return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in in_rows(columns))


def write_text(text, path):
    """Write text, compressed if the name of the file ends with `.gz`. Return the path."""
    content = text.encode()
    Path(path).write_bytes(gzip.compress(content) if f"{path}".endswith(".gz") else content)
    return path


def _write_stream(columns, path):
    table = pa.table(columns)
    with pa.OSFile(f"{path}", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=70)


# Small batches, so that a query is in several.
WRITERS = {
    ".run": lambda columns, path: write_text(trec_lines(columns), path),
    ".jsonl": lambda columns, path: write_text(json_lines(columns), path),
    ".ndjson": lambda columns, path: write_text(json_lines(columns), path),
    # With a byte-order mark.
    ".csv": lambda columns, path: pd.DataFrame(columns).to_csv(path, index=False, encoding="utf-8-sig"),
    ".tsv": lambda columns, path: pd.DataFrame(columns).to_csv(path, index=False, sep="\t"),
    ".parquet": lambda columns, path: pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=90),
    ".feather": lambda columns, path: pyarrow.feather.write_feather(pa.table(columns), path, chunksize=90),
    ".arrow": lambda columns, path: pyarrow.feather.write_feather(pa.table(columns), path, compression="uncompressed"),
    ".arrows": _write_stream,
}


def write_columns(columns, path):
    """Write columns in the format that the name of a file ends with; `.gz` may follow. Return the path."""
    ending = next(suffix for suffix in reversed(Path(path).suffixes) if suffix in WRITERS)
    WRITERS[ending](columns, path)
    return path
