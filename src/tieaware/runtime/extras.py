"""Import of optional packages, with an error that says what to install."""

from __future__ import annotations

import importlib
from typing import Any

# The extras of tieaware for packages that its own functions need. The tools that have an integration are installed by
# their own names, because their users have them already.
_EXTRAS = ("analysis", "arrow", "fast", "retrieval", "spark")


class MissingExtraError(ImportError):
    """An optional package is not installed; the message says what to install."""


def load(module: str, source: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
    source : str
        The extra of tieaware, or the package, that installs the module.

    Raises
    ------
    MissingExtraError
        If the package is not installed. The message, a single line, says what to install.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        target = f"'tieaware[{source}]'" if source in _EXTRAS else source
        raise MissingExtraError(f"{package} is not installed: pip install {target}") from None
