"""Draw the figures of the pages on ties and precision, with values computed by tieaware.

    python website/draw.py website/figures

The figures are SVG files. They are 480 pixels wide, so that their text is readable on a phone, and have a second set of
colours for dark pages.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

import tieaware
from tieaware import samples

WIDTH = 480
LIGHT = {
    "page": "#ffffff", "ink": "#1c2733", "soft": "#5a6774", "rule": "#cbd3db", "group": "#dfe9f5",
    "edge": "#7d97b5", "plain": "#aab6c2", "hit": "#c2410c", "on": "#ffffff",
}  # fmt: skip
DARK = {
    "page": "#1e2129", "ink": "#e6eaef", "soft": "#a3afbb", "rule": "#454d59", "group": "#2c3a4d",
    "edge": "#7f9cbf", "plain": "#66717e", "hit": "#fb923c", "on": "#1e2129",
}  # fmt: skip


def style() -> str:
    """Return a style sheet with classes for colours: f-NAME sets the fill, and s-NAME the stroke."""

    def rules(colours: dict[str, str]) -> str:
        return "".join(f".f-{name}{{fill:{c}}}.s-{name}{{stroke:{c}}}" for name, c in colours.items())

    return f"<style>{rules(LIGHT)}@media (prefers-color-scheme:dark){{{rules(DARK)}}}</style>"


def figure(height: int, title: str, *parts: str) -> str:
    """Return a complete SVG. Screen readers read its title aloud."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="14">\n<title>{escape(title)}</title>\n{style()}\n'
        f'<rect class="f-page" width="{WIDTH}" height="{height}" rx="8"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def text(x: float, y: float, words: str, colour: str = "ink", anchor: str = "start", more: str = "") -> str:
    """Return a text element whose baseline is at y."""
    return f'<text x="{x:g}" y="{y:g}" class="f-{colour}" text-anchor="{anchor}" {more}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, edge: str = "", more: str = "") -> str:
    """Return a rectangle with rounded corners."""
    stroke = f" s-{edge}" if edge else ""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" class="f-{fill}{stroke}" {more}/>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = "rule", more: str = "") -> str:
    """Return a straight line."""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="s-{colour}" {more}/>'


BOLD = 'font-weight="600"'
SMALL = 'font-size="12.5"'
# B is the relevant document. C is before B in the input.
SCORES = {"A": 0.9, "C": 0.5, "B": 0.5, "D": 0.5, "E": 0.1}
QRELS = {"q": {"B": 1}}


def value(rule: str) -> float:
    """Return the reciprocal rank of B under a tie rule."""
    return tieaware.evaluate(QRELS, {"q": SCORES}, "RR", ties=rule).mean().item()


def document(x: float, y: float, name: str, width: float = 34) -> str:
    """Return a document: a box with its letter, filled if it is relevant."""
    fill, ink = ("hit", "on") if name in QRELS["q"] else ("page", "ink")
    edge = "hit" if fill == "hit" else "edge"
    return box(x, y, width, 26, fill, edge) + text(x + width / 2, y + 18, name, ink, "middle")


def constant() -> str:
    """Draw the RR@10 of a constant scorer, which ties all documents of the embedded sample, under each tie rule."""
    sample = samples.load()
    qrels, run = sample.qrels, {"constant": sample.runs["constant"]}
    rows = {
        "in input order": "run_order", "by id, descending": "trec_eval",
        "best order": "optimistic", "worst order": "pessimistic", "mean over all orders": "average",
    }  # fmt: skip
    parts = [text(16, 28, "A scorer that gives all documents the same score", more=BOLD),
             text(16, 48, "RR@10, by the order of its ties", "soft", more=SMALL)]  # fmt: skip
    for i, (words, rule) in enumerate(rows.items()):
        mean, y = tieaware.evaluate(qrels, run, "RR@10", ties=rule).mean().item(), 70 + 32 * i
        colour, weight = ("hit", BOLD) if rule == "average" else ("plain", "")
        parts += [
            text(206, y + 15, words, anchor="end", more=weight),
            box(214, y, max(190 * mean, 2), 22, colour),
            text(222 + 190 * mean, y + 15, f"{mean:.4f}"),
        ]
    return figure(238, "RR@10 of a constant scorer under five orders of its ties", *parts)


def groups() -> str:
    """Draw scores, their tie group, and the possible ranks of the relevant document."""
    parts = [text(16, 28, "The scores", more=BOLD), text(206, 28, "The possible ranks of B", more=BOLD),
             box(70, 75, 116, 96, "group", "edge"), text(178, 127, "tied", "soft", "end", SMALL)]  # fmt: skip
    for i, (name, score) in enumerate(SCORES.items()):
        y = 46 + 32 * i
        parts += [text(60, y + 18, f"{score:.1f}", "soft", "end"), document(80, y, name, 46)]
    for i, place in enumerate((2, 3, 4)):
        x = 212 + 90 * i
        order = ["A", *["C", "D"][: place - 2], "B", *["C", "D"][place - 2 :], "E"]
        parts += [document(x, 46 + 32 * j, name) for j, name in enumerate(order)]
        parts.append(text(x - 4, 226, f"RR = 1/{place}"))
        parts.append(text(x - 4, 245, "2 of 6 orders", "soft", more='font-size="11"'))
    mean = f"The mean over all six: (1/2 + 1/3 + 1/4) / 3 = {value('average'):.4f}"
    parts += [line(16, 258, 464, 258), text(16, 282, mean, more=BOLD)]
    return figure(298, "Three tied documents, and the three possible ranks of the relevant one", *parts)


def rules() -> str:
    """Draw the value of one list under each tie rule, on one scale."""
    rows = {
        "best order": "optimistic", "by id, ascending": "docid_ascending", "mean over all orders": "average",
        "in input order": "run_order", "by id, descending": "trec_eval", "worst order": "pessimistic",
    }  # fmt: skip

    def at(number: float) -> float:
        return 190 + (number - 0.2) * 760

    low, high, bottom = at(value("pessimistic")), at(value("optimistic")), 56 + 30 * len(rows)
    parts = [text(16, 28, "One list, six values: the RR of B", more=BOLD)]
    parts.append(box(low, 44, high - low, bottom - 44, "group"))
    for i, (words, rule) in enumerate(rows.items()):
        y, colour, number = 64 + 30 * i, "hit" if rule == "average" else "ink", value(rule)
        parts += [text(170, y + 5, words, anchor="end", more=BOLD if rule == "average" else ""), line(182, y, 464, y),
                  f'<circle cx="{at(number):g}" cy="{y}" r="6" class="f-{colour}"/>',
                  text(at(number) + 12, y - 4, f"{number:.3f}", "ink", more=SMALL)]  # fmt: skip
    parts.append(text((low + high) / 2, bottom + 18, "range over all orders", "soft", "middle", SMALL))
    return figure(bottom + 34, "The reciprocal rank of one list under six tie rules", *parts)


def cutoff() -> str:
    """Draw a cut-off inside a tie group."""
    title = "P@3 of a list with a tie group at ranks 2 to 5"
    parts = [text(16, 28, title, more=BOLD), box(92, 52, 298, 54, "group", "edge")]
    for i, name in enumerate("A????F"):
        x = 22 + 74 * i
        parts += [box(x + 8, 64, 54, 30, "page", "edge"), text(x + 35, 84, name, "ink", "middle"),
                  text(x + 35, 124, f"rank {i + 1}", "soft", "middle", SMALL)]  # fmt: skip
    value = tieaware.Evaluator([0, 1, 0, 0, 0, 0], "P@3")([3, 2, 2, 2, 2, 1]).item()
    parts += [line(240, 42, 240, 132, "hit", 'stroke-width="2" stroke-dasharray="6 4"'),
              text(246, 46, "cut-off", "hit", more=SMALL),
              text(16, 158, "Two of the four tied documents are above the cut-off. One of the"),
              text(16, 178, "four is relevant, so it is above in half of the orders:"),
              text(16, 202, f"P@3 = ½ · 1/3 + ½ · 0 = {value:.4f}", more=BOLD)]  # fmt: skip
    return figure(218, "A cut-off inside a group of tied documents", *parts)


def bands() -> str:
    """Draw ranks in bands, for three growth factors."""
    cells, size = 24, 18
    parts = [text(16, 28, "Ranks 1 to 24 in bands", more=BOLD)]
    for row, (rho, words) in enumerate([("1", "every rank is a band"), ("1.5", "each band begins 1.5 times as deep"),
                                        ("2", "each band begins twice as deep")]):  # fmt: skip
        y = 48 + 74 * row
        starts = [*tieaware.bands(rho, cells).tolist(), cells + 1]
        parts.append(text(24, y + 12, f"ρ = {rho}: {len(starts) - 1} bands, {words}"))
        for i, (start, end) in enumerate(pairwise(starts)):
            x, width = 24 + size * (start - 1), size * (end - start) - 2
            parts += [box(x, y + 20, width, 26, "group" if i % 2 else "page", "edge"),
                      text(x + width / 2, y + 37, str(start), "ink", "middle", 'font-size="11"')]  # fmt: skip
    parts.append(text(24, 276, "Each box is a band, labelled with its first rank.", "soft", more=SMALL))
    parts.append(text(24, 294, "All documents in a band count as tied.", "soft", more=SMALL))
    return figure(308, "The ranks from 1 to 24 in bands that grow by 1, by 1.5 and by 2", *parts)


FIGURES: dict[str, Callable[[], str]] = {each.__name__: each for each in (constant, groups, rules, cutoff, bands)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name, drawn in FIGURES.items():
        (folder / f"{name}.svg").write_text(drawn(), encoding="utf-8")
