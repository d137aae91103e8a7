"""Warnings about top-k lists that are shorter than a measure needs, or of different lengths in one comparison.

Only arrays (ids, scores) are checked: runs in files usually have some fixed depth, which users know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tieaware.inputs.qrels import Qrels
from tieaware.inputs.run import RunSource
from tieaware.kernels import _identifiers
from tieaware.measures import Measure


def short_lists(qrels: Qrels, sources: Mapping[str, RunSource], measures: Sequence[Measure]) -> Iterator[str]:
    """Yield the text of a warning for each run whose lists are too short, and for runs that cannot be compared.

    Parameters
    ----------
    qrels : Qrels
    sources : {name: run}
    measures : sequence of Measure

    Yields
    ------
    str
    """
    widths = {name: source.list_width for name, source in sources.items() if source.list_width is not None}
    if not widths:
        return
    for name, width in widths.items():
        deeper = [measure for measure in measures if measure.cutoff is not None and measure.cutoff > width]
        if deeper and _are_cut(qrels, sources[name], width):
            yield (
                f"{name}: lists of {width:,} items, but {deeper[0]} looks at {deeper[0].cutoff:,}: pass longer lists, "
                f"or use a cut-off of at most {width:,}"
            )
    unlimited = [measure for measure in measures if measure.cutoff is None and measure.definition.has_cutoff]
    if unlimited and len(set(widths.values())) > 1:
        (least, short), (most, long) = (choose((n, name) for name, n in widths.items()) for choose in (min, max))
        yield (
            f"runs: {unlimited[0]} has no cut-off, and compares lists of {least:,} items ({short}) with lists of "
            f"{most:,} ({long}): use {unlimited[0]}@{least}"
        )


def _are_cut(qrels: Qrels, source: RunSource, width: int) -> bool:
    """Return whether there are more items than a list has. The run may be the only place that shows the items."""
    if qrels.n_columns is not None:
        return qrels.n_columns > width
    return any(_n_documents(chunk) > width for chunk in source.chunks())


def _n_documents(chunk: RunSource) -> int:
    documents = chunk.whole().documents
    _, firsts = _identifiers.number(documents.data, documents.offsets)
    return len(np.asarray(firsts))
