"""Writing the outcome of an experiment to files: CSV tables, SVG figures, PNG figures, and an HTML report.

Figures that the page only links to are SVG files alone: drawing them twice would take as long as everything else.
"""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from pathlib import Path

from tieaware._version import __version__
from tieaware.errors import InputError
from tieaware.experiments.evaluating import progress
from tieaware.experiments.page import Report, on_page, page
from tieaware.runtime.atomic_files import unfinished_folder
from tieaware.runtime.extras import load
from tieaware.runtime.remote_paths import local_path

_PAGE = "report.html"
# A page names the other files of its report before any other name.
_FILES = re.compile(r'<meta name="files" content="([\w. -]*)">')
_FILE = re.compile(r"\w[\w.-]*\.(csv|svg|png)")


def write(report: Report, folder: str | os.PathLike[str]) -> None:
    """Write the files of a report into a folder in place of the last report. After an error, nothing has changed."""
    target = Path(local_path(folder, "folder"))
    try:
        target.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(target) as made:
            new, old = Path(made, "new"), Path(made, "old")
            new.mkdir()
            old.mkdir()
            _write(report, new)
            _swap(target, new, old)
    except OSError as error:
        raise InputError(str(error.filename or target), error.strerror or str(error)) from None


def _swap(target: Path, new: Path, old: Path) -> None:
    """Move the files of the last report from a folder to another, and the new files into the folder.

    The page is the first file to go and the last to come: if the process is killed, there is no page of other files.
    """
    names = sorted((file.name for file in new.iterdir()), key=_PAGE.__eq__)
    for name in names:
        if (target / name).is_dir():
            raise InputError(f"{target / name}", "cannot be replaced by a file: it is a folder")
    ours = dict.fromkeys((_PAGE, *_last_files(target), *names))
    leaving = [name for name in ours if (target / name).is_file() or (target / name).is_symlink()]
    moved: list[tuple[Path, Path]] = []
    try:
        for come_from, name in (*((target, name) for name in leaving), *((new, name) for name in names)):
            moved.append((come_from / name, (old if come_from == target else target) / name))
            os.replace(*moved[-1])
    except BaseException:
        for before, after in reversed(moved):
            with suppress(OSError):
                os.replace(after, before)
        raise


def _last_files(folder: Path) -> list[str]:
    """Return the names of the files that the page in a folder lists as those of its report."""
    last = folder / _PAGE
    found = _FILES.search(last.read_text("utf-8", "replace")) if last.is_file() else None
    return [] if found is None else list(filter(_FILE.fullmatch, found[1].split()))


def _write(report: Report, folder: Path) -> None:
    for name, table in progress(report.tables.items(), "writing tables"):
        table.to_csv(folder / f"{name}.csv")
    figures: dict[str, bytes] = {}
    sizes: dict[str, int] = {}
    for name, drawing in progress(report.drawings.items(), "drawing figures"):
        images = drawing.images("svg", "png")
        figures[name] = next(images)
        sizes[name] = len(figures[name])
        (folder / f"{name}.svg").write_bytes(figures[name])
        # A figure that has no room beside those before it will have none beside more figures.
        if name in on_page(sizes):
            (folder / f"{name}.png").write_bytes(next(images))
    for name in figures.keys() - set(on_page(sizes)):
        (folder / f"{name}.png").unlink(missing_ok=True)
    files = sorted(file.name for file in folder.iterdir())
    (folder / _PAGE).write_bytes(page(report, figures, versions(), files).encode("utf-8", "replace"))


def versions() -> str:
    """Return the versions of tieaware, of its dependencies and of Python, as a sentence."""
    packages = ", ".join(f"{name} {load(name, 'analysis').__version__}" for name in ("numpy", "scipy", "matplotlib"))
    return f"tieaware {__version__}, {packages}, Python {platform.python_version()}."
