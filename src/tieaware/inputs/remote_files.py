"""Messages about files on the network, which tieaware does not read, but other libraries do."""

from __future__ import annotations

import os
import re

from tieaware.runtime.remote_paths import url_in

_COMPRESSED = re.compile(r"\.(gz|bz2|xz|zst)$", re.IGNORECASE)
_READERS = {
    "": "polars.scan_parquet({0!r}) or duckdb.read_parquet({0!r})",
    ".parquet": "polars.scan_parquet({0!r}) or duckdb.read_parquet({0!r})",
    ".csv": "polars.scan_csv({0!r}) or duckdb.read_csv({0!r})",
    ".tsv": "polars.scan_csv({0!r}, separator='\\t') or duckdb.read_csv({0!r})",
    ".jsonl": "polars.scan_ndjson({0!r}) or duckdb.read_json({0!r})",
    ".ndjson": "polars.scan_ndjson({0!r}) or duckdb.read_json({0!r})",
    ".feather": "polars.scan_ipc({0!r})",
    ".arrow": "polars.scan_ipc({0!r})",
}
_WEB = "urllib.request.urlopen({0!r})"
_HADOOP = "pyarrow.dataset.dataset({0!r})"
_STORE = "fsspec.open({0!r}).open()"


def remote_problem(path: str) -> str | None:
    """Say what is wrong with the path of a file on the network, and what to pass instead; None for any other path."""
    url = url_in(path)
    if url is None:
        return None
    if url.local_path is not None:
        return f"write the path instead of a URL: {url.local_path}"
    suffix = os.path.splitext(_COMPRESSED.sub("", url.rest.lower()))[1]
    # A text file without a suffix and a folder of Parquet files look alike; a compressed file is no Parquet file.
    known = suffix in _READERS and (suffix or not _COMPRESSED.search(url.rest))
    reader = _READERS[suffix] if known else _WEB if url.scheme in ("http", "https", "ftp") else _STORE
    if url.scheme == "hdfs":
        # polars and DuckDB do not read from HDFS.
        reader = _HADOOP if suffix in ("", ".parquet") else _STORE
    return f"tieaware reads local files only: download the file, or in Python pass {reader.format(url.text)}"
