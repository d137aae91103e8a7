import importlib
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("processes are measured with os.wait4", allow_module_level=True)

from benchmarks import ratios
from benchmarks.processes import run
from benchmarks.ratios import Ratio

SURROUNDINGS = {
    "versions": {"Python": "3.14", "numpy": "2.4"},
    "machine": {"system": "Linux", "processor": "abacus", "cores": 2},
}
ROWS = [
    Ratio("Arrays", "short lists", "tieaware", "np.max", 0.5, 0.6, at_most=1.0),
    Ratio("Files", "one file", "tieaware", "wc", 2.0, 2.5, at_most=0.75),
    Ratio("Arrays", "long lists", "peer", "tieaware", 1234.5, 1300.0),
    Ratio("Engines", "float64", "counting", "locating", 0.25, 0.3, column="8"),
    Ratio("Engines", "float64", "counting", "locating", 1.5, 1.6, column="64"),
]


def test_markdown_shows_each_ratio_under_its_section_with_its_verdict():
    lines = ratios.markdown(ROWS, SURROUNDINGS).splitlines()
    assert lines[0] == "Python 3.14, numpy 2.4; abacus, 2 cores, Linux."
    assert lines[4:9] == [
        "| **Arrays** |  |  |  |  |  |",
        "| short lists | tieaware ÷ np.max | 0.500 | 0.600 | 1 | met |",
        "| long lists | peer ÷ tieaware | 1,234 | 1,300 |  |  |",
        "| **Files** |  |  |  |  |  |",
        "| one file | tieaware ÷ wc | 2.00 | 2.50 | 0.75 | **missed** |",
    ]


def test_columns_make_a_table_of_their_own():
    assert ratios.tables(ROWS)[1] == [
        ("Engines", "what ÷ what", "8", "64"),
        ("float64", "counting ÷ locating", "0.250", "1.50"),
    ]


def test_save_replaces_what_stands_between_the_marks(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text("before\n<!-- table: begin -->\nold\n<!-- table: end -->\nafter\n")
    for _ in range(2):
        ratios.save(ROWS, SURROUNDINGS, tmp_path)
    text = page.read_text()
    assert text.startswith("before\n<!-- table: begin -->\nPython 3.14")
    assert text.endswith("| 1.50 |\n<!-- table: end -->\nafter\n")
    assert "old" not in text


def test_save_needs_the_marks(tmp_path):
    (tmp_path / "performance.md").write_text("no table\n")
    with pytest.raises(ValueError, match="found 0 pairs of marks"):
        ratios.save(ROWS, SURROUNDINGS, tmp_path)


def test_a_ratio_is_the_median_of_the_turns_and_that_of_the_least_times():
    assert ratios.summarise([2.0, 4.0, 9.0], [5.0, 4.0, 16.0]) == (0.5625, 0.5)


def test_seconds_are_those_of_one_call():
    calls = []
    assert 0 <= ratios.seconds(lambda: calls.append(0), calls=3) < 1
    assert len(calls) == 3


def test_a_process_is_measured_alone():
    """Its peak memory must not include that of the process that starts it."""
    ballast = bytearray(200_000_000)
    process = run(sys.executable, "-I", "-S", "-c", "print('done')")
    del ballast
    assert process.output == "done\n"
    assert 0 < process.seconds < 10
    assert 1e6 < process.peak < 1e8


def test_a_process_that_fails_is_an_error():
    with pytest.raises(RuntimeError, match="failed"):
        run(sys.executable, "-I", "-S", "-c", "raise SystemExit('no')")


def test_page_has_the_marks():
    page = (Path(ratios.__file__).parent.parent / "docs" / "performance.md").read_text(encoding="utf-8")
    assert page.count("<!-- table: begin -->") == page.count("<!-- table: end -->") == 1


@pytest.mark.parametrize("name", sorted(path.stem for path in Path(ratios.__file__).parent.glob("bench_*.py")))
def test_every_benchmark_finds_what_it_measures(name):
    """A benchmark runs seldom; that what it imports has moved is seen at once."""
    try:
        importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in ("tieaware", "benchmarks"):
            raise
        pytest.skip(f"{error.name} is missing: pip install 'tieaware[bench]'")
