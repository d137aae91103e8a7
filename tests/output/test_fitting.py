"""Tables that are fitted to the width of a terminal."""

from collections import Counter

import pytest

from tieaware.output.tables import Marked, Table

NAMES = [f"run-{i}-of-a-certain-length" for i in range(30)]
LONG = Table(
    "A title that is longer than a line of a narrow terminal has room for", ("run", "beats", "whom", "mean"),
    [
        (name, i, ", ".join(NAMES[:i]), Marked(0.5, "0.500", raised=",".join("abcdefghijklmno"[:i])))
        for i, name in enumerate(NAMES)
    ],
    ("A note that is longer than a line of a narrow terminal has room for.",),
)  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 120, 1000])
def test_nothing_is_lost(width):
    """Splitting a table into panels and its long cells into lines keeps every character.

    Each panel repeats the names of the rows.
    """
    lines = LONG.fitted(width).splitlines()
    assert max(map(len, lines)) <= width
    whole, fitted = ("".join(text.split()) for text in (str(LONG), "".join(lines)))
    assert "…" not in fitted
    assert not Counter(whole) - Counter(fitted)
    assert width < 1000 or fitted == whole


def test_long_cells_continue_on_the_next_line():
    table = Table("T", ("run", "whom", "AP"), [("a", "one, two, three, four", Marked(1, "1.0", True, "a,b,c,d,e,f,g"))])
    assert table.fitted(36).splitlines()[2:] == [
        "run  whom         AP",
        "a    one, two,    *1.0 a,b,c,d,e,f,",
        "     three, four       g",
    ]


def test_a_table_without_some_rows_says_how_many_are_left_out():
    rows = [(f"r{i}", i) for i in range(100)]
    table = Table("T", ("run", "n"), rows, ("A note.",))
    lines = table.fitted(80, 20, "use --all").splitlines()
    shown = [line.split()[0] for line in lines[3:-3]]
    assert shown == [*(f"r{i}" for i in range(15)), "…", *(f"r{i}" for i in range(95, 100))]
    assert lines[-2:] == ["A note.", "Left out (…): 80 of 100 rows. For the whole table, use --all."]
    assert table.fitted(80, 100) == table.fitted(80) == str(table)
    cells = Table("T", ("run", "whom"), [("a", ", ".join(NAMES))])
    assert cells.fitted(80, 20, "use a pipe").splitlines()[4:] == [
        "     run-2-of-a-certain-length, run-3-of-a-certain-length, …",
        "",
        "Left out (…): the ends of long cells. For the whole table, use a pipe.",
    ]
