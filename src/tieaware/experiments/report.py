"""Writing the outcome of an experiment to files: CSV tables, SVG figures, PNG figures, and an HTML report.

Figures that the page only links to are SVG files alone: drawing them twice would take as long as everything else.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

from tieaware._version import __version__
from tieaware.errors import InputError
from tieaware.experiments.evaluating import progress
from tieaware.experiments.page import Report, on_page, page
from tieaware.runtime.atomic_files import unfinished_folder
from tieaware.runtime.extras import load
from tieaware.runtime.remote_paths import local_path


def write(report: Report, folder: str | os.PathLike[str]) -> None:
    """Write the files of a report into a folder. After an error, none of them is written."""
    target = Path(local_path(folder, "folder"))
    try:
        target.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(target) as made:
            _write(report, Path(made))
            for file in sorted(Path(made).iterdir()):
                if (target / file.name).is_dir():
                    raise InputError(f"{target / file.name}", "cannot be replaced by a file: it is a folder")
            for file in sorted(Path(made).iterdir()):
                file.replace(target / file.name)
    except OSError as error:
        raise InputError(str(error.filename or target), error.strerror or str(error)) from None


def _write(report: Report, folder: Path) -> None:
    for name, table in progress(report.tables.items(), "writing tables"):
        table.to_csv(folder / f"{name}.csv")
    figures: dict[str, bytes] = {}
    for name, drawing in progress(report.drawings.items(), "drawing figures"):
        images = drawing.images("svg", "png")
        figures[name] = next(images)
        (folder / f"{name}.svg").write_bytes(figures[name])
        if name in on_page({each: len(svg) for each, svg in figures.items()}):
            (folder / f"{name}.png").write_bytes(next(images))
    (folder / "report.html").write_bytes(page(report, figures, versions()).encode("utf-8", "replace"))


def versions() -> str:
    """Return the versions of tieaware, of its dependencies and of Python, as a sentence."""
    packages = ", ".join(f"{name} {load(name, 'analysis').__version__}" for name in ("numpy", "scipy", "matplotlib"))
    return f"tieaware {__version__}, {packages}, Python {platform.python_version()}."
