"""The demonstration: the embedded sample under each tie rule."""

from __future__ import annotations

import numpy as np

from tieaware import samples
from tieaware._evaluate import evaluate
from tieaware.inputs import read_qrels, read_run
from tieaware.statistics import count_ties

_RULES = ("run_order", "trec_eval", "pessimistic", "average", "optimistic")
_MEASURE = "RR@10"
_ROW = "{:14}{:>8}{:>12}{:>12}{:>12}{:>14}{:>12}"


def demo() -> str:
    """Return the table that `tieaware demo` prints."""
    folder = samples.sample_files()
    qrels = read_qrels(folder / "qrels.txt.xz")
    runs = {name: read_run(folder / "runs" / f"{name}.run.xz") for name in samples.RUN_NAMES}
    means = np.hstack([evaluate(qrels, runs, [_MEASURE], ties=rule).mean() for rule in _RULES])
    lines = [
        f"{_MEASURE} of six rankings of the same documents, by scorers of different precision,",
        "under each way to order the documents whose scores tie:",
        "",
        _ROW.format("", "tied", "ties in", "ties by", "ties", "average over", "ties"),
        _ROW.format("run", "docs", "run order", "document id", "worst first", "all orders", "best first"),
    ]
    for (name, run), row in zip(runs.items(), means, strict=True):
        ties = count_ties(run.scores, run.offsets)
        tied = f"{ties.tied_documents / ties.documents:.0%}"
        lines.append(_ROW.format(name, tied, *(f"{value:.4f}" for value in row)))
    by_order, by_id, _, average, _ = means[-1]
    lines += [
        "",
        "The constant scorer gives every candidate the same score, so it ranks nothing. Its candidates happen to be",
        f"listed relevant ones first: an evaluator that keeps the order of the input reports {by_order:.4f}, one that",
        f"orders ties by document id {by_id:.4f}. Averaged over all orders that its scores allow, exactly, it earns",
        f"{average:.4f}.",
    ]
    return "".join(f"{line}\n" for line in lines)
