"""The figure of docs/performance.md: time against the length of the lists, and against the share of relevant documents.

``python -m benchmarks.scaling`` measures and draws; with ``--draw`` it draws what was measured last.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tieaware
from benchmarks.peers import ARRAYS, DICTS, MEASURES, TAKE_ARRAYS, TAKE_DICTS, Collection, Tool
from benchmarks.ratios import environment, seconds

DOCS = Path(__file__).parent.parent / "docs"
TOOLS = (ARRAYS, DICTS, *TAKE_DICTS, *TAKE_ARRAYS)
LENGTHS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
RELEVANT = (1, 3, 10, 30, 100, 300, 900)

# Documents a point, unless one list has more.
N_DOCS = 50_000

# Seconds that one evaluation may take. A tool that is going to need more stops there.
PATIENCE = 10.0

# Seconds that a point is repeated for; the least time counts.
REPEATING = 0.5

# Distinct in lightness too, for print and for colour-blind readers; every line has a mark and a label of its own.
STYLES = {
    "tieaware, arrays": ("#000000", "o", 2.4),
    "tieaware, dicts": ("#000000", "s", 1.6),
    "pytrec_eval": ("#0060A8", "^", 1.3),
    "ranx": ("#D55E00", "D", 1.3),
    "ir_measures": ("#009E73", "v", 1.3),
    "scikit-learn": ("#CC79A7", "X", 1.3),
    "tie-aware-retrieval-metrics": ("#8C6D00", "P", 1.3),
}
LABELS = {
    "scikit-learn": "scikit-learn (nDCG@10 alone)",
    "tie-aware-retrieval-metrics": "tie-aware-\nretrieval-metrics",
}


def measure(shapes: Sequence[tuple[int, int, int]]) -> dict[str, list[float]]:
    """Time every tool on collections of these shapes, in nanoseconds a document, as far as its patience lasts."""
    points: dict[str, list[float]] = {tool.name: [] for tool in TOOLS if tool.installed}
    last = dict.fromkeys(points, 0.0)
    documents = N_DOCS
    for n_lists, length, relevant in shapes:
        data = Collection(n_lists, length, relevant)
        expected = tieaware.Evaluator(data.labels, MEASURES).mean(data.scores)
        growth = n_lists * length / documents
        documents = n_lists * length
        for tool in TOOLS:
            if tool.name not in points or last[tool.name] * growth > PATIENCE:
                last[tool.name] = float("inf")
                continue
            last[tool.name] = time(tool, data, expected)
            points[tool.name].append(1e9 * last[tool.name] / documents)
    return points


def time(tool: Tool, data: Collection, expected: Any) -> float:
    """Return the least seconds of an evaluation, after asserting its result."""
    work = tool.prepare(data)
    tool.check(work(), expected)
    least = spent = seconds(work)
    while spent < REPEATING:
        once = seconds(work)
        spent += once
        least = min(least, once)
    return least


def draw(measured: dict[str, Any], folder: Path) -> None:
    """Write performance.png and performance.svg."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    # Text stays text, and the same numbers give the same file.
    plt.rcParams.update({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "tieaware"})
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    for panel, (x, points) in zip(axes, measured["panels"].values(), strict=True):
        ends = {}
        for name, y in points.items():
            if y:
                colour, mark, width = STYLES[name]
                panel.plot(x[: len(y)], y, color=colour, marker=mark, linewidth=width, markersize=5)
                ends[name] = (x[len(y) - 1], y[-1])
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.grid(True, which="major", color="#dddddd", linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        panel.set_xlim(x[0] * 0.8, x[-1] * 1.3)
        panel.yaxis.set_major_formatter("{x:,.9g}")
        panel.xaxis.set_major_formatter("{x:,.9g}")
        if panel is axes[-1]:
            label(panel, ends, at=x[-1])
    axes[0].set_ylabel("time per document (ns)")
    axes[0].set_xlabel("documents in a list, 5 of them relevant")
    axes[1].set_xlabel("share of relevant documents in lists of 1,000 (%)")
    titles = "From short lists to long ones", "From few relevant documents to many"
    for panel, title in zip(axes, titles, strict=True):
        panel.set_title(title, loc="left", fontsize=10, fontweight="bold")
    figure.suptitle(described(measured), x=0.008, ha="left", fontsize=8.5)
    figure.savefig(folder / "performance.png", dpi=150)
    figure.savefig(folder / "performance.svg", metadata={"Date": None})
    plt.close(figure)


def described(measured: dict[str, Any]) -> str:
    """Say what was timed, and on which machine."""
    machine, versions = measured["machine"], measured["versions"]
    cores = f"{machine['cores']} core{'s' * (machine['cores'] != 1)}"
    return (
        f"nDCG@10 + AP + RR in one thread, less is faster. {machine['processor']}; {cores}; {machine['system']}; "
        f"Python {versions['Python']}, NumPy {versions['numpy']}, tieaware {versions['tieaware']}."
    )


def label(panel: Any, ends: dict[str, tuple[float, float]], at: float) -> None:
    """Name the lines at their ends, moving names apart where they would touch."""
    apart = 1.8
    height = 0.0
    for name, (_, y) in sorted(ends.items(), key=lambda item: item[1][1]):
        text = LABELS.get(name, name)
        height = max(y, height * apart * (1 + 0.4 * text.count("\n")))
        panel.annotate(
            text, (at, y), xytext=(at * 1.6, height), color=STYLES[name][0], va="center",
            annotation_clip=False, fontweight="bold" if name.startswith("tieaware") else "normal",
            arrowprops={
                "arrowstyle": "-", "color": STYLES[name][0], "linewidth": 0.6, "shrinkB": 4, "relpos": (0, 0.5)
            },
        )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and draw."""
    parser = argparse.ArgumentParser("python -m benchmarks.scaling", description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="draw docs/scaling.json, and measure nothing")
    parser.add_argument("--out", type=Path, default=DOCS, help="the folder of the results (docs)")
    options = parser.parse_args(arguments)
    numbers = options.out / "scaling.json"
    if not options.draw:
        # The peers and what they import warn about themselves.
        warnings.simplefilter("ignore")
        by_length = measure([(max(1, N_DOCS // n), n, 5) for n in LENGTHS])
        by_share = measure([(N_DOCS // 1_000, 1_000, r) for r in RELEVANT])
        panels = {"length": [LENGTHS, by_length], "share": [[r / 10 for r in RELEVANT], by_share]}
        measured = {**environment(), "unit": "nanoseconds per document", "panels": panels}
        numbers.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    draw(json.loads(numbers.read_text(encoding="utf-8")), options.out)


if __name__ == "__main__":
    main()
