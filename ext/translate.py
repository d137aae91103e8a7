"""Translate Cython modules to C: ``python ext/translate.py FOLDER OPTION... -- SOURCE...``.

One process translates several modules, because Cython takes longer to start than to translate a module. It writes
FOLDER/NAME.c for each NAME.pyx, unless that file is newer than all that it depends on, and was made by the same Cython
with the same options. Files that are up to date keep their times, so that they are not compiled again.
"""

import os
import sys
from pathlib import Path

from Cython import __version__
from Cython.Compiler.Main import main


def translate(folder: Path, options: list[str], source: Path) -> None:
    """Write the C file of one module, its list of dependencies, and the file that `is_current` reads."""
    target = folder / f"{source.stem}.c"
    made_by = folder / f"{source.stem}.made_by"
    how = "\n".join([__version__, *options])
    if is_current(target, made_by, how):
        return
    # After an error, the module must be translated again, although Cython leaves a C file.
    made_by.unlink(missing_ok=True)
    module = ["--module-name", f"tieaware.kernels.{source.stem}"]
    sys.argv = ["cython", *module, *options, "-M", os.fspath(source), "--output-file", os.fspath(target)]
    main(command_line=1)
    made_by.write_text(how, encoding="utf-8")


def is_current(target: Path, made_by: Path, how: str) -> bool:
    """Return whether a C file was made in this way, after the last change of everything that it depends on."""
    try:
        if made_by.read_text(encoding="utf-8") != how:
            return False
        words = target.with_suffix(".c.dep").read_text(encoding="utf-8").partition(": ")[2].replace("\\\n", " ").split()
        written = target.stat().st_mtime_ns
        return all(Path(word).stat().st_mtime_ns < written for word in words)
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    folder, *rest = sys.argv[1:]
    end = rest.index("--")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for source in rest[end + 1 :]:
        translate(Path(folder), rest[:end], Path(source))
