import ast
import importlib
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("processes are measured with os.wait4", allow_module_level=True)

from benchmarks import conftest, ratios, tables, targets
from benchmarks.processes import run
from benchmarks.ratios import Ratio

pytest_plugins = ["pytester"]

BENCHMARKS = Path(ratios.__file__).parent
MODULES = sorted(path.stem for path in BENCHMARKS.glob("*.py") if path.stem != "__init__")
SURROUNDINGS = {
    "versions": {"Python": "3.14", "numpy": "2.4"},
    "machine": {"system": "Linux", "processor": "abacus", "cores": 2},
}
MISSED = Ratio("Files", "one file", "tieaware", "wc", 2.0, 2.5, at_most=0.75)
EXPECTED = replace(MISSED, expected_to_miss="reading takes time")
CROSSED = Ratio("Engines", "float64", "tieaware", "the best of them", 1.5, 1.6, at_most=1.1, column="64")
ROWS = [
    Ratio("Arrays", "short lists", "tieaware", "np.max", 0.5, 0.6, at_most=1.0),
    MISSED,
    Ratio("Arrays", "long lists", "peer", "tieaware", 1234.5, 1300.0),
    Ratio("Engines", "float64", "counting", "locating", 0.25, 0.3, column="8"),
    Ratio("Engines", "float64", "counting", "locating", 1.5, 1.6, column="64"),
]
PAGE = "before\n<!-- table: begin -->\nold\n<!-- table: end -->\nafter\n"


def recorded(processor, *ratios):
    """Return a record of a processor, as `save` writes it."""
    machine = {**SURROUNDINGS["machine"], "processor": processor}
    return {**SURROUNDINGS, "machine": machine, "ratios": [asdict(ratio) for ratio in ratios]}


def test_page_shows_the_ratios_of_all_processors_side_by_side(monkeypatch):
    monkeypatch.setattr(tables, "SHOWN", ("Files", "Arrays"))
    records = [recorded("abacus, AVX2, AVX-512", *ROWS), recorded("slide rule", ROWS[2])]
    assert tables.markdown(records).splitlines() == [
        "| workload | what ÷ what | abacus, AVX-512 | slide rule |",
        "| --- | --- | --: | --: |",
        "| **Files** |  |  |  |",
        "| one file | tieaware ÷ wc | 2.00 |  |",
        "| **Arrays** |  |  |  |",
        "| short lists | tieaware ÷ np.max | 0.500 |  |",
        "| long lists | peer ÷ tieaware | 1,234 | 1,234 |",
    ]


def test_columns_make_a_separate_table():
    assert tables.tables(ROWS)[1] == [
        ("Engines", "what ÷ what", "8", "64"),
        ("float64", "counting ÷ locating", "0.250", "1.50"),
    ]
    assert tables.tables([replace(CROSSED, column="8", expected_to_miss="slow"), CROSSED])[0][1][2:] == (
        "1.50 missed (expected)", "1.50 missed",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "verdict", "reason"),
    [
        (EXPECTED, "missed (expected)", "  tieaware ÷ wc (Files; one file): reading takes time"),
        (replace(EXPECTED, ratio=0.7), "met (expected to miss)", None),
        (replace(CROSSED, column="8", expected_to_miss="the cost model is for another processor"), "missed (expected)",
         "  tieaware ÷ the best of them (Engines; float64; 8): the cost model is for another processor"),
    ],
)  # fmt: skip
def test_the_reason_of_an_expected_miss_is_shown_below_the_table(ratio, verdict, reason):
    lines = tables.text([ratio], SURROUNDINGS).splitlines()
    assert ratio.verdict == verdict
    assert any(verdict in line for line in lines)
    assert (lines[-1] == reason) == (reason is not None)


def test_save_writes_a_record_and_replaces_the_text_between_the_marks(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "SHOWN", ("Files",))
    page = tmp_path / "performance.md"
    page.write_text(PAGE)
    for _ in range(2):
        assert tables.save([*ROWS, EXPECTED], SURROUNDINGS, tmp_path, page) == tmp_path / "abacus.json"
    text = page.read_text()
    assert text.startswith("before\n<!-- table: begin -->\n| workload")
    assert text.endswith("| 2.00 |\n<!-- table: end -->\nafter\n")
    rows = json.loads((tmp_path / "abacus.json").read_text())["ratios"]
    assert [Ratio(**row) for row in rows] == [*ROWS, EXPECTED]
    page.write_text("no table\n")
    with pytest.raises(ValueError, match="between one pair of marks, but there are 0 pairs"):
        tables.rewrite(tmp_path, page)


def test_page_is_made_of_the_records(tmp_path):
    """If this fails, run `python -m benchmarks.tables`."""
    page = tmp_path / "performance.md"
    page.write_bytes(tables.PAGE.read_bytes())
    tables.rewrite(tables.RECORDS, page)
    assert page.read_bytes() == tables.PAGE.read_bytes()


def test_ratio_is_the_median_of_all_turns_and_the_ratio_of_the_least_times():
    assert ratios.summarise([2.0, 4.0, 9.0], [5.0, 4.0, 16.0]) == (0.5625, 0.5)


def test_seconds_are_those_of_one_call():
    calls = []
    assert 0 <= ratios.seconds(lambda: calls.append(0), calls=3) < 1
    assert len(calls) == 3


def write_list(path: Path, **processors: dict[str, object]) -> Path:
    """Write a list of expected misses, {processor: {name of a row: reason}}."""
    lines = []
    for processor, reasons in processors.items():
        lines += [f"[{processor}]", *(f"{json.dumps(name)} = {value!r}" for name, value in reasons.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_reasons_are_those_of_the_processor(tmp_path):
    reasons = {MISSED.name: "reading takes time"}
    path = write_list(tmp_path / "list.toml", abacus={**reasons, CROSSED.name: "sorting does"}, rule={})
    assert targets.expected_to_miss("abacus", path) == {**reasons, CROSSED.name: "sorting does"}
    assert targets.expected_to_miss("rule", path) == targets.expected_to_miss("quipu", path) == {}


@pytest.mark.parametrize("reason", ["", 7])
def test_every_expected_miss_has_a_reason(tmp_path, reason):
    path = write_list(tmp_path / "list.toml", abacus={MISSED.name: reason})
    with pytest.raises(ValueError, match=r"list.toml: abacus: tieaware ÷ wc \(Files; one file\): no reason"):
        targets.expected_to_miss("quipu", path)


def test_every_expected_miss_is_a_recorded_row():
    """Each entry of expected_to_miss.toml must have the names of a recorded row. Rename both if you rename a row."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in tables.RECORDS.glob("*.json")]
    found = {record["machine"]["processor"]: record["ratios"] for record in records if "ratios" in record}
    assert len(found) == 4
    for processor, rows in found.items():
        assert (reasons := targets.expected_to_miss(processor))
        named = {replace(MISSED, **{key: row.get(key, "") for key in tables.KEY}).name for row in rows}
        assert set(reasons) <= named


def test_summary_says_what_differs_from_the_list():
    met = replace(EXPECTED, ratio=0.7)
    unknown = replace(MISSED, workload="no file").name
    reasons = {MISSED.name: "reading takes time", unknown: "there is none"}
    assert targets.summary([EXPECTED, ROWS[0]], reasons, complete=False) == []
    assert targets.summary([met], reasons, complete=False) == [
        "Met, although expected to be missed. If this lasts, delete it from expected_to_miss.toml:",
        "  tieaware ÷ wc (Files; one file) is 0.7, target at most 0.75",
    ]
    assert targets.summary([EXPECTED], reasons, complete=True) == [
        "In expected_to_miss.toml, but no benchmark has these names:",
        "  tieaware ÷ wc (Files; no file)",
    ]
    assert targets.summary([MISSED, CROSSED], {}, complete=True) == [
        "Missed: 2 targets. If the reason is known, add it to expected_to_miss.toml:",
        "  tieaware ÷ wc (Files; one file) is 2, target at most 0.75",
        "  tieaware ÷ the best of them (Engines; float64; 64) is 1.5, target at most 1.1",
    ]


@pytest.fixture
def session(pytester, monkeypatch):
    """Return a function that runs pytest on a benchmark with a given ratio, in a folder with a page for the table."""
    monkeypatch.setattr(conftest, "environment", lambda: SURROUNDINGS)
    monkeypatch.setattr(tables, "RECORDS", pytester.path)
    monkeypatch.setattr(tables, "PAGE", pytester.path / "performance.md")
    monkeypatch.setattr(tables, "SHOWN", ("Files",))
    pytester.path.joinpath("performance.md").write_text(PAGE)

    def session(*options: str, ratio: Ratio = MISSED, processor: str = "", correct: bool = True):
        reasons = {processor: {MISSED.name: "reading takes time"}} if processor else {}
        path = write_list(pytester.path / "list.toml", **reasons)
        read = targets.expected_to_miss
        with monkeypatch.context() as patch:
            patch.setattr(targets, "expected_to_miss", lambda processor: read(processor, path))
            pytester.makepyfile(f"from benchmarks.ratios import Ratio\n\n"
                                f"def test_row(report):\n    report({ratio!r})\n    assert {correct}\n")  # fmt: skip
            return pytester.runpytest_inprocess(*options, plugins=[conftest])

    return session


FAILED, OK, USAGE = pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.OK, pytest.ExitCode.USAGE_ERROR
REPORTED = (
    "Missed: 1 target. If the reason is known, add it to expected_to_miss.toml:\n"
    "  tieaware ÷ wc (Files; one file) is 2, target at most 0.75"
)


@pytest.mark.parametrize(
    ("options", "given", "code", "printed", "recorded"),
    [
        ([], {}, FAILED, REPORTED, False),
        (["--record"], {}, FAILED, REPORTED, True),
        (["--record"], {"processor": "abacus"}, OK, "1 passed", True),
        ([], {"processor": "quipu"}, FAILED, REPORTED, False),
        ([], {"ratio": replace(MISSED, ratio=0.7), "processor": "abacus"}, OK,
         "Met, although expected to be missed. If this lasts, delete it from expected_to_miss.toml:\n"
         "  tieaware ÷ wc (Files; one file) is 0.7, target at most 0.75", False),
        (["--record"], {"correct": False}, FAILED, "Not recorded: a benchmark failed.", False),
        (["--record", "--small"], {}, USAGE, "--record requires all benchmarks", False),
        (["--record", "-k", "row"], {}, USAGE, "--record requires all benchmarks", False),
    ],
)  # fmt: skip
def test_a_session_checks_targets_and_records_ratios(session, pytester, options, given, code, printed, recorded):
    result = session(*options, **given)
    assert result.ret == code
    assert printed in "\n".join([*result.outlines, *result.errlines])
    page = pytester.path.joinpath("performance.md").read_text()
    assert ("| one file | tieaware ÷ wc | 2.00 |" in page) == recorded
    assert (page == PAGE) != recorded


def test_process_is_measured_alone():
    """The peak memory of a measured process must not include that of the process that starts it."""
    ballast = bytearray(200_000_000)
    process = run(sys.executable, "-I", "-S", "-c", "print('done')")
    del ballast
    assert process.output == "done\n"
    assert 0 < process.seconds < 10
    assert 1e6 < process.peak < 1e8


def test_process_that_fails_is_an_error():
    with pytest.raises(RuntimeError, match="failed"):
        run(sys.executable, "-I", "-S", "-c", "raise SystemExit('no')")


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("bench_*.py")), ids=lambda path: path.stem)
def test_benchmarks_without_peers_need_no_peer(path):
    """Peers are imported by the tests that compare with them, so that pytest can collect the others without them."""
    known = sys.stdlib_module_names | {"benchmarks", "numpy", "pytest", "tieaware"}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names = [statement.module] if isinstance(statement, ast.ImportFrom) else [a.name for a in statement.names]
            assert {str(name).partition(".")[0] for name in names} <= known


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_can_be_imported(name):
    """The test finds broken imports of tieaware even if other packages that the benchmarks need are not installed."""
    try:
        importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in ("tieaware", "benchmarks"):
            raise
        pytest.skip(f"{error.name} is missing: pip install --group bench")
