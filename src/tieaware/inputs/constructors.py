"""Hints for callers who pass a dict, a path or a table to the constructors of `Qrels` and `Run`, as in other tools."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tieaware.inputs.frames import is_frame


def instead_of_columns(name: str, given: Sequence[Any]) -> str:
    """Return what to write instead of a call of the constructor.

    Parameters
    ----------
    name : str
        The name of the class, Qrels or Run.
    given : sequence
        The positional arguments of the wrong call.

    Examples
    --------
    >>> instead_of_columns("Run", [{"q1": {"d1": 2.0, "d2": 2.0}}])
    'write Run.from_dict({query: {document: score}})'
    """
    first = given[0] if given else {}
    if type(first).__name__ == name:
        return f"the argument is already {'judgments' if name == 'Qrels' else 'a run'}: use it as it is"
    if isinstance(first, str | os.PathLike):
        return f"write tieaware.read_{name.lower()}(path)"
    if not isinstance(first, Mapping) and is_frame(first):
        return f"write {name}.from_frame(frame)"
    return f"write {name}.from_dict({{query: {{document: {'label' if name == 'Qrels' else 'score'}}}}})"
