"""Recognition of URLs such as s3://bucket/key, and refusal to write to them: tieaware writes local files only.

Without this check, the system would take s3://bucket/key for a file in a local folder called "s3:".
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from tieaware.checks.arguments import path_text, unexpected
from tieaware.errors import InputError, printable

_URL = re.compile(r"(s3a?|gs|gcs|hf|https?|ftp|abfss?|az|adl|wasbs?|hdfs|r2|file):(/+)(.+)", re.DOTALL)
_FILE_SUFFIXES = (".parquet", ".npz", ".csv", ".json")


class Url(NamedTuple):
    """A URL that was passed as a path.

    Parameters
    ----------
    scheme : str
    text : str
        The URL, with the slashes that pathlib removes: ``Path("s3://b/k")`` is ``s3:/b/k``.
    rest : str
        What follows the scheme and its slashes.
    """

    scheme: str
    text: str
    rest: str

    @property
    def local_path(self) -> str | None:
        """The path in a file URL; None for other schemes."""
        if self.scheme != "file":
            return None
        return "/" + self.rest.removeprefix("localhost/")


def url_in(path: str) -> Url | None:
    """Return the URL that a path consists of; None for any other path."""
    found = _URL.fullmatch(path)
    if found is None:
        return None
    scheme, slashes, rest = found.groups()
    if len(slashes) == 1:
        # The URLs of these schemes usually have no host: hdfs:///folder/file.
        slashes = "///" if scheme in ("hdfs", "file") else "//"
    return Url(scheme, f"{scheme}:{slashes}{rest}", rest)


def local_path(path: str | os.PathLike[str], argument: str = "path") -> str:
    """Return the path of an output as text; raise InputError if it is not a path, or is a URL."""
    text = path_text(argument, path)
    url = url_in(text)
    if url is None:
        return text
    if url.local_path is not None:
        raise InputError(printable(text), f"write the path instead of a URL: {url.local_path}")
    raise InputError(printable(text), "tieaware writes to local files only: choose a local path, and copy it there")


def check_folder(path: str | os.PathLike[str], argument: str = "out") -> None:
    """Raise InputError if the path of an output folder is a URL, a file, or looks like the name of a file."""
    text = local_path(path, argument)
    if os.path.isdir(text):
        return
    if os.path.exists(text):
        raise InputError(argument, f"{printable(text)} is a file, not a folder")
    if os.path.splitext(text)[1] in _FILE_SUFFIXES:
        raise unexpected(argument, "a folder", f"{printable(text)}, the name of a file")
