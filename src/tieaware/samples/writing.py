"""Reading and writing of sample collections as TREC files."""

from __future__ import annotations

import lzma
import os
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from tieaware.checks.arguments import local_path, path_text
from tieaware.samples.generator import RUN_NAMES, Collection


def write(collection: Collection, folder: str | os.PathLike[str], *, compress: bool = False) -> None:
    """Write a collection as TREC files: topics.tsv, qrels.txt and runs/<name>.run.

    A score is written as the shortest text that is read back as the same number. With `compress`, each file is
    compressed with xz, and its name ends in ``.xz``. The folder must not exist, else FileExistsError is raised; it
    appears only when it is complete.
    """
    folder = Path(local_path("folder", folder)).absolute()
    if folder.exists():
        raise FileExistsError(f"{folder}: the folder already exists")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as staging:
        # Write to a subfolder, because only the owner can read the temporary folder itself.
        complete = Path(staging, folder.name)
        for name, text in _texts(collection):
            path = complete / (name + ".xz" if compress else name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(lzma.compress(text.encode(), preset=9) if compress else text.encode())
        complete.rename(folder)


def _texts(collection: Collection) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each file of a collection."""
    yield "topics.tsv", "".join(f"{query}\t{title}\n" for query, title in collection.topics.items())
    yield "qrels.txt", "".join(
        f"{query} 0 {document} {label}\n"
        for query, labels in collection.qrels.items()
        for document, label in labels.items()
    )
    for name, run in collection.runs.items():
        # repr() gives the shortest text that is read back as the same number. The ".0" of a whole number is left out.
        yield f"runs/{name}.run", "".join(
            f"{query} Q0 {document} {rank} {repr(float(score)).removesuffix('.0')} {name}\n"
            for query, scores in run.items()
            for rank, (document, score) in enumerate(scores.items(), start=1)
        )


def sample_files() -> Path:
    """Return the folder of the embedded sample, with topics.tsv.xz, qrels.txt.xz and runs/<name>.run.xz.

    Do not write to it. It is always a folder on disk, because a package with compiled modules cannot be imported from
    an archive.
    """
    return Path(str(files("tieaware") / "data" / "sample"))


def load(folder: str | os.PathLike[str] | None = None) -> Collection:
    """Read a collection that `write` wrote, compressed or not. The default is the embedded sample.

    Runs in `RUN_NAMES` come first, in this order, then all others in alphabetical order. FileNotFoundError is raised if
    a file is missing.

    Examples
    --------
    >>> set(load().runs["constant"]["q101"].values())
    {1.0}
    """
    folder = sample_files() if folder is None else Path(path_text("folder", folder))
    if not folder.exists():
        raise FileNotFoundError(f"no folder {str(folder)!r}: load() reads the sample, load(folder) what write() wrote")
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
    """Read the lines of a file, or of its compressed form, whose name ends in .xz, if there is one."""
    compressed = path.with_name(path.name + ".xz")
    data = lzma.decompress(compressed.read_bytes()) if compressed.exists() else path.read_bytes()
    return data.decode().splitlines()
