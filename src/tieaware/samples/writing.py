"""Collections as TREC files, and where the embedded one is."""

from __future__ import annotations

import lzma
import os
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from tieaware.samples.generator import RUN_NAMES, Collection


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
