"""The command ``tieaware demo``: the embedded sample collection under each tie rule."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING

from tieaware.commands import streams

if TYPE_CHECKING:
    from tieaware.ties import TieRuleName

_RULES: tuple[TieRuleName, ...] = ("run_order", "trec_eval", "pessimistic", "average", "optimistic")
_MEASURE = "RR@10"
# The formats of a table row: for a wide terminal, and for a terminal of 80 columns.
_ROW = "{:14}{:>8}{:>12}{:>12}{:>12}{:>14}{:>12}"
_NARROW_ROW = "{:12}{:>5}{:>11}{:>13}{:>13}{:>14}{:>12}"
_WIDTH = 106


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "demo",
        help="evaluate an embedded sample, to show why ties matter",
        description="Evaluate six runs of an embedded sample collection under each tie rule, to show why ties matter.",
    )
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    width = streams.width()
    return demo() if width is None else demo(max(width, 80))


def demo(width: int = _WIDTH) -> str:
    """Return the text that `tieaware demo` prints, about `width` columns wide; `width` is at least 80."""
    import numpy as np

    from tieaware import samples
    from tieaware._evaluate import evaluate
    from tieaware.inputs import read_qrels, read_run
    from tieaware.statistics import count_ties

    row = (_ROW if width >= _WIDTH else _NARROW_ROW).format
    folder = samples.sample_files()
    qrels = read_qrels(folder / "qrels.txt.xz")
    runs = {name: read_run(folder / "runs" / f"{name}.run.xz") for name in samples.RUN_NAMES}
    means = np.hstack([evaluate(qrels, runs, [_MEASURE], ties=rule).mean() for rule in _RULES])
    lines = [
        f"{_MEASURE} of six rankings of the same documents, by scorers of different precision,",
        "under each way to order the documents whose scores tie:",
        "",
        row("", "tied", "ties in", "ties by", "ties", "average over", "ties"),
        row("run", "docs", "run order", "document id", "worst first", "all orders", "best first"),
    ]
    for (name, run), values in zip(runs.items(), means, strict=True):
        ties = count_ties(run.scores, run.offsets)
        tied = f"{ties.tied_documents / ties.documents:.0%}"
        lines.append(row(name, tied, *(f"{value:.4f}" for value in values)))
    by_order, by_id, _, average, _ = means[-1]
    explanation = (
        f"Average over ties: the constant scorer, which ranks nothing, then earns {average:.4f}. Its candidates happen "
        f"to be listed relevant ones first, so an evaluator that keeps the order of the input reports {by_order:.4f}, "
        f"and one that orders ties by document id {by_id:.4f}."
    )
    return "".join(f"{line}\n" for line in [*textwrap.wrap(explanation, min(width, _WIDTH)), "", *lines])
