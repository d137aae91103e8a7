"""Recommendations and test data of Elliot, read from its files.

Elliot writes a file of recommendations for each model: user, item and score, separated by tabs, without a heading. Its
metrics take their order, in which ties have the order that a sort leaves; as a run, they rank by their scores.
"""

from __future__ import annotations

import math

from tieaware.checks.arguments import number, shown
from tieaware.errors import InputError
from tieaware.inputs import Qrels, Run
from tieaware.inputs.files.byte_streams import ByteStream
from tieaware.inputs.files.paths import Path, run_name, source_name
from tieaware.inputs.files.text import Lines, number_in


def read_recommendations(path: Path) -> Run:
    r"""Read the recommendations of a model, such as those in Elliot's folder ``recs``.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        The file; it may be compressed.

    Returns
    -------
    Run
        The name is that of the file, without its suffix. Users are queries, items are documents.

    Raises
    ------
    InputError
        If a line has no three fields, a score is no number, or an item is recommended twice to a user. The message has
        the path and the line.

    Examples
    --------
    >>> import io, tieaware
    >>> from tieaware.integrations import elliot
    >>> run = elliot.read_recommendations(io.BytesIO(b"7\t101\t0.5\n7\t102\t0.5\n"))
    >>> test = elliot.read_test(io.BytesIO(b"7\t102\t4.0\t978300760\n"))
    >>> tieaware.evaluate(test, run, "RR").mean().item()
    0.75
    """
    users, items, scores = _columns(path, (3,))
    return Run.from_columns(users, items, scores, name=run_name(source_name(path)))


def read_test(path: Path, relevance_threshold: float = 0.0) -> Qrels:
    r"""Read Elliot's test data: user, item, rating and timestamp, separated by tabs; the last two may be missing.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        The file; it may be compressed.
    relevance_threshold : float
        The threshold of Elliot's configuration, finite. Items with lower ratings are not relevant.

    Returns
    -------
    Qrels
        The label of an item is its rating - `relevance_threshold` + 1, with which ``nDCG(dcg='exp-log2')`` is Elliot's
        nDCG. A missing rating is 1. Items that are not relevant are left out, and so are users without relevant items,
        as in Elliot's means.

    Raises
    ------
    InputError
        If a line has fewer than two or more than four fields, a rating is no number, or a user rates an item twice. The
        message has the path and the line.

    Examples
    --------
    >>> import io
    >>> from tieaware.integrations import elliot
    >>> elliot.read_test(io.BytesIO(b"7\t101\t5\n7\t102\t3\n8\t101\t2\n"), 3).to_dict()
    {'7': {'101': 3, '102': 1}}
    """
    threshold = number("relevance_threshold", relevance_threshold, -math.inf, math.inf, ends=False)
    users, items, ratings = _columns(path, (2, 3, 4))
    kept = [i for i, rating in enumerate(ratings) if rating >= threshold]
    labels = [ratings[i] - threshold + 1 for i in kept]
    return Qrels.from_columns([users[i] for i in kept], [items[i] for i in kept], labels, name=source_name(path))


def _columns(path: Path, widths: tuple[int, ...]) -> tuple[list[str], list[str], list[float]]:
    """Read the first three fields of all lines, which have one of these numbers of fields; a missing number is 1."""
    rows: dict[tuple[str, str], float] = {}
    with ByteStream(path) as stream:
        lines = list(Lines(stream).decoded())
    for i, line in enumerate(lines, 1):
        place = f"{source_name(path)}:{i}"
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) not in widths:
            wanted = " to ".join(map(str, sorted({widths[0], widths[-1]})))
            raise InputError(place, f"a line has {wanted} fields, separated by tabs; this one has {len(fields)}")
        pair = fields[0], fields[1]
        if pair in rows:
            raise InputError(place, f"user {shown(pair[0])} has item {shown(pair[1])} twice")
        rows[pair] = _number(fields[2], place) if len(fields) > 2 else 1.0
    return [user for user, _ in rows], [item for _, item in rows], list(rows.values())


def _number(field: str, place: str) -> float:
    try:
        value, found = number_in(field), shown(field)
    except ValueError as error:
        value, found = math.nan, f"{error}"
    if math.isnan(value):
        raise InputError(place, f"the third field must be a number; found {found}")
    return value
