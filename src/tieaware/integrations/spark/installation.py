"""The modules of pyspark and pyarrow, checks that these and Java are installed, and checks of data frames of Spark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import Any

from tieaware.checks.arguments import shown, unexpected
from tieaware.runtime.extras import MissingExtraError, load

# The extra that installs pyspark and pyarrow.
EXTRA = "spark"

_LEAST_PYSPARK = 4
_LEAST_JAVA = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


class _Module:
    """A module of an optional package, which is imported when an attribute of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            # Tools that look at the objects of a module ask for such attributes.
            raise AttributeError(attribute)
        return getattr(load(self._name, EXTRA), attribute)


pa: Any = _Module("pyarrow")
compute: Any = _Module("pyarrow.compute")
F: Any = _Module("pyspark.sql.functions")


def check_frames(**frames: Any) -> None:
    """Raise an error unless a recent pyspark is installed and all arguments are pyspark data frames."""
    spark = load("pyspark", EXTRA)
    if int(spark.__version__.partition(".")[0]) < _LEAST_PYSPARK:
        raise MissingExtraError(f"pyspark {spark.__version__} is too old: pip install 'tieaware[{EXTRA}]'")
    kind = load("pyspark.sql", EXTRA).DataFrame
    for name, frame in frames.items():
        if not isinstance(frame, kind):
            check_java()
            raise unexpected(name, "a pyspark DataFrame", shown(frame))


def check_java() -> None:
    """Raise MissingExtraError unless a version of Java that Spark supports is installed; the message names both."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin")) if home else shutil.which("java")
    needed = f"Spark needs Java {_LEAST_JAVA} or later, in JAVA_HOME or on the PATH"
    if java is None:
        raise MissingExtraError(f"Java is not installed: {needed}")
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = _VERSION.search(printed)
    if version is None or int(version[1]) < _LEAST_JAVA:
        raise MissingExtraError(f"Java {version[1] if version else 'of an unknown version'} is too old: {needed}")
