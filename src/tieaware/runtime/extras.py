"""Import of optional packages, with an error that names the extra to install."""

from __future__ import annotations

import importlib
from typing import Any


class MissingExtraError(ImportError):
    """An optional package is not installed; the message says which extra of tieaware installs it."""


def load(module: str, extra: str) -> Any:
    """Import a module of an optional package.

    Raises
    ------
    MissingExtraError
        If the package is not installed. The message, a single line, names the extra to install.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(f"{package} is not installed: pip install 'tieaware[{extra}]'") from None
