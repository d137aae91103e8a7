"""The demonstration: the embedded sample under each tie rule."""

from __future__ import annotations

import numpy as np

from tieaware import samples
from tieaware.evaluate import evaluate
from tieaware.inputs import Run, read_qrels, read_run

_RULES = ("run_order", "trec_eval", "pessimistic", "average", "optimistic")
_MEASURE = "RR@10"


def tied_share(run: Run) -> float:
    """The share of documents that another document of their list ties with."""
    tied = 0
    for start, end in zip(run.offsets[:-1], run.offsets[1:], strict=True):
        _, counts = np.unique(run.scores[start:end], return_counts=True)
        tied += int(counts[counts > 1].sum())
    return tied / max(len(run.scores), 1)


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
        f"{'':14}{'tied':>8}{'ties in':>12}{'ties by':>12}{'ties':>12}{'average over':>14}{'ties':>12}",
        f"{'run':14}{'docs':>8}{'run order':>12}{'document id':>12}{'worst first':>12}{'all orders':>14}{'best first':>12}",
    ]
    for (name, run), row in zip(runs.items(), means, strict=True):
        by_order, by_id, worst, average, best = row
        lines.append(
            f"{name:14}{tied_share(run):8.0%}{by_order:12.4f}{by_id:12.4f}{worst:12.4f}{average:14.4f}{best:12.4f}"
        )
    by_order, by_id, _, average, _ = means[-1]
    lines += [
        "",
        "The constant scorer gives every candidate the same score, so it ranks nothing. Its candidates happen to be listed",
        f"relevant ones first: an evaluator that keeps the order of the input reports {by_order:.4f}, one that orders ties by",
        f"document id {by_id:.4f}. Averaged over all orders that its scores allow, exactly, it earns {average:.4f}.",
    ]
    return "".join(f"{line}\n" for line in lines)
