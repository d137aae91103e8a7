"""Small C programs of the benchmarks, compiled and loaded into this process."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CC = shutil.which(os.environ.get("CC", "cc"))

needs_compiler = pytest.mark.skipif(CC is None or os.name == "nt", reason="no C compiler")


def library(source: str, folder: Path, *flags: str | Path) -> str:
    """Compile a file of this folder; return the path of the library."""
    path = (folder / source).with_suffix(".so")
    command = [str(CC), "-std=c11", "-O2", "-shared", "-fPIC", *flags, Path(__file__).parent / source, "-o", path]
    subprocess.run(command, check=True)
    return str(path)
