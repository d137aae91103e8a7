"""The figure of docs/performance.md: time per document by list length, and by the share of relevant documents.

``python -m benchmarks.scaling`` measures and draws the figure; ``--draw`` draws the last measurements again. The figure
has no targets.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tieaware
from benchmarks.peers import ARRAYS, DICTS, MEASURES, TAKE_ARRAYS, TAKE_DICTS, Collection, Tool
from benchmarks.ratios import environment, seconds

RECORDS = Path(__file__).parent / "records"
FIGURE = Path(__file__).parent.parent / "website" / "figures" / "performance.svg"
TOOLS = (ARRAYS, DICTS, *TAKE_DICTS, *TAKE_ARRAYS)
LENGTHS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
RELEVANT = (1, 3, 10, 30, 100, 300, 900)

# The number of documents evaluated for each point of the figure, unless a single list is longer.
N_DOCS = 50_000

# The most seconds that one evaluation may take. A line ends where the next point would probably take longer.
PATIENCE = 10.0

# The seconds for which the measurement of a point is repeated. The point shows the least time.
REPEATING = 0.5

# For print and for colour-blind readers, colours differ in lightness, and every line has its own marker and name.
STYLES = {
    "tieaware, arrays": ("#000000", "o", 2.4),
    "tieaware, dicts": ("#000000", "s", 1.6),
    "pytrec_eval": ("#0060A8", "^", 1.3),
    "ranx": ("#D55E00", "D", 1.3),
    "ir_measures": ("#009E73", "v", 1.3),
    "scikit-learn": ("#CC79A7", "X", 1.3),
    "tie-aware-retrieval-metrics": ("#8C6D00", "P", 1.3),
}
# Names beside the lines, where they differ from the names of the tools.
LINE_NAMES = {
    "scikit-learn": "scikit-learn (nDCG@10 alone)",
    "tie-aware-retrieval-metrics": "tie-aware-\nretrieval-metrics",
}


def measure(
    shapes: Sequence[tuple[int, int, int]], n_docs: int = N_DOCS, repeating: float = REPEATING
) -> dict[str, list[float]]:
    """Time every tool on collections of the given shapes (lists, length, relevant), in nanoseconds per document.

    The points of a tool end before the first evaluation that would probably take more than PATIENCE.
    """
    points: dict[str, list[float]] = {tool.name: [] for tool in TOOLS if tool.installed}
    last = dict.fromkeys(points, 0.0)
    documents = n_docs
    for n_lists, length, relevant in shapes:
        data = Collection(n_lists, length, relevant)
        expected = tieaware.Evaluator(data.labels, MEASURES).mean(data.scores)
        growth = n_lists * length / documents
        documents = n_lists * length
        for tool in TOOLS:
            if tool.name not in points or last[tool.name] * growth > PATIENCE:
                last[tool.name] = float("inf")
                continue
            last[tool.name] = time(tool, data, expected, repeating)
            points[tool.name].append(1e9 * last[tool.name] / documents)
    return points


def time(tool: Tool, data: Collection, expected: Any, repeating: float) -> float:
    """Assert the result of an evaluation, repeat it for `repeating` seconds, and return the least time in seconds."""
    work = tool.prepare(data)
    tool.check(work(), expected)
    least = spent = seconds(work)
    while spent < repeating:
        once = seconds(work)
        spent += once
        least = min(least, once)
    return least


def record(
    folder: Path = RECORDS, lengths: Sequence[int] = LENGTHS, relevant: Sequence[int] = RELEVANT, n_docs: int = N_DOCS,
    repeating: float = REPEATING,
) -> None:  # fmt: skip
    """Measure the points of both panels of the figure, and write them to scaling.json."""
    # Other evaluators and their dependencies emit warnings of their own.
    warnings.simplefilter("ignore")
    by_length = measure([(max(1, n_docs // n), n, 5) for n in lengths], n_docs, repeating)
    by_share = measure([(n_docs // 1_000, 1_000, r) for r in relevant], n_docs, repeating)
    panels = {"length": [lengths, by_length], "share": [[r / 10 for r in relevant], by_share]}
    measured = {**environment(), "unit": "nanoseconds per document", "panels": panels}
    folder.joinpath("scaling.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def draw(folder: Path = RECORDS, path: Path = FIGURE) -> None:
    """Draw the figure from scaling.json."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    measured = json.loads(folder.joinpath("scaling.json").read_text(encoding="utf-8"))
    # Keep text as text in the SVG. With a fixed salt, the same numbers give the same file.
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
            name_lines(panel, ends, at=x[-1])
    axes[0].set_ylabel("time per document (ns)")
    axes[0].set_xlabel("documents in a list, 5 of them relevant")
    axes[1].set_xlabel("share of relevant documents in lists of 1,000 (%)")
    titles = "From short lists to long ones", "From few relevant documents to many"
    for panel, title in zip(axes, titles, strict=True):
        panel.set_title(title, loc="left", fontsize=10, fontweight="bold")
    figure.suptitle(description(measured), x=0.008, ha="left", fontsize=8.5)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def description(measured: dict[str, Any]) -> str:
    """Describe the measures, the machine and the versions."""
    machine, versions = measured["machine"], measured["versions"]
    cores = f"{machine['cores']} core{'s' * (machine['cores'] != 1)}"
    return (
        f"nDCG@10 + AP + RR in one thread, less is faster. {machine['processor']}; {cores}; {machine['system']}; "
        f"Python {versions['Python']}, NumPy {versions['numpy']}, tieaware {versions['tieaware']}."
    )


def name_lines(panel: Any, ends: dict[str, tuple[float, float]], at: float) -> None:
    """Write the name of each line at its end. Names that would touch are moved apart."""
    apart = 1.8
    height = 0.0
    for name, (_, y) in sorted(ends.items(), key=lambda item: item[1][1]):
        text = LINE_NAMES.get(name, name)
        height = max(y, height * apart * (1 + 0.4 * text.count("\n")))
        panel.annotate(
            text, (at, y), xytext=(at * 1.6, height), color=STYLES[name][0], va="center",
            annotation_clip=False, fontweight="bold" if name.startswith("tieaware") else "normal",
            arrowprops={
                "arrowstyle": "-", "color": STYLES[name][0], "linewidth": 0.6, "shrinkB": 4, "relpos": (0, 0.5)
            },
        )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line: measure the points unless --draw is given, and draw the figure."""
    parser = argparse.ArgumentParser("python -m benchmarks.scaling", description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="draw the figure from scaling.json without measuring")
    parser.add_argument("--small", action="store_true", help="measure tiny collections as a test, and keep no files")
    options = parser.parse_args(arguments)
    if options.small:
        with tempfile.TemporaryDirectory() as folder:
            record(Path(folder), LENGTHS[:3], RELEVANT[:3], n_docs=1_000, repeating=0.0)
            draw(Path(folder), Path(folder) / FIGURE.name)
        return
    if not options.draw:
        record()
    draw()


if __name__ == "__main__":
    main()
