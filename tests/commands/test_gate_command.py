"""The command ``tieaware gate``: its exit status, its first line, the files that it writes, and its errors."""

import json
import os

import pytest

pytest.importorskip("scipy")

N = 9
QRELS = "".join(f"q{i} 0 a 1\n" for i in range(N))


def run_file(ranks, queries=N):
    """Return the lines of a run in which document a has the given rank for each query."""
    return "".join(
        f"q{i} Q0 {'a' if j == ranks[i % len(ranks)] else f'x{j}'} {j} {-j} t\n"
        for i in range(queries) for j in range(1, 6)
    )


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "qrels": QRELS, "good.run": run_file([1]), "bad.run": run_file([2, 3, 4]), "short.run": run_file([1], N - 2),
        "this.run": run_file([1, 2]), "that.run": run_file([2, 1]),
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(
    ("line", "status", "start"),
    [
        ("bad.run --against good.run", 1, "FAIL: RR fell by 0.639 (95%: "),
        ("good.run --against bad.run", 0, "PASS: RR rose by 0.639 (95%: "),
        ("good.run --against good.run", 0, "PASS: RR did not change (1.000, 9 queries)."),
        ("this.run --against that.run", 0, "CANNOT TELL: RR rose by 0.056 (95%: "),
        ("this.run --against that.run --strict", 3, "CANNOT TELL: RR rose by 0.056 (95%: "),
        ("bad.run --against good.run --tolerance 0.9 --strict", 0, "PASS: RR fell by 0.639 (95%: "),
        ("good.run this.run --against that.run --against bad.run", 0, "CANNOT TELL: RR rose by "),
        ("short.run --against good.run --allow-missing --tolerance 0.6", 0, "PASS: RR fell by 0.222 (95%: "),
    ],
)  # fmt: skip
def test_the_verdict_is_the_first_line_and_the_exit_status(command, line, status, start):
    found, output, errors = command(f"gate qrels {line} -m RR")
    assert (found, errors) == (status, "")
    assert output.splitlines()[0].startswith(start)


def test_the_verdict_as_files(command):
    status, output, _ = command("gate qrels bad.run --against good.run -m RR --json verdict.json --markdown verdict.md")
    with open("verdict.json", encoding="utf-8") as file:
        verdict = json.load(file)
    assert (status, verdict["schema"], verdict["verdict"]) == (1, 1, "worse")
    assert output.startswith(verdict["sentence"])
    with open("verdict.md", encoding="utf-8") as file:
        assert file.read().startswith("**FAIL:** RR fell by 0.639 ")


def test_an_error_leaves_no_old_verdict_behind(command):
    files = "--json verdict.json --markdown verdict.md"
    assert command(f"gate qrels good.run --against good.run -m RR {files}")[0] == 0
    assert command(f"gate qrels short.run --against good.run -m RR {files}")[0] == 2
    assert not {"verdict.json", "verdict.md"} & set(os.listdir("."))


def test_a_saved_base(command):
    status, output, errors = command("gate qrels good.run -m RR -m R@3 --save base.npz")
    assert (status, errors) == (0, "wrote base.npz\n")
    assert output == "The first base holds RR 1.000, R@3 1.000 (9 queries).\n"
    status, output, errors = command("gate qrels bad.run --against base.npz --save base.npz")
    assert (status, output.splitlines()[0][:9]) == (1, "FAIL: RR ")
    assert errors == "not saved: a run that is worse is not saved as a base\n"
    # The old base is still there, and a run that is compared with nothing does not replace it.
    assert command("gate qrels bad.run --against base.npz")[0] == 1
    remedy = "compare with it (--against base.npz), or remove it to begin with a new base"
    assert command("gate qrels bad.run --save base.npz") == (2, "", f"base.npz: holds a base already; {remedy}\n")
    _, output, _ = command("gate qrels this.run good.run -m RR --save other.npz")
    assert output == "The first base holds RR 0.889 of 2 repetitions (9 queries).\n"
    _, output, _ = command("gate qrels short.run -m RR --save short.npz")
    assert output == "The first base holds RR 0.778 (9 queries, 2 without documents).\n"


def test_the_second_line_says_whether_a_build_without_a_verdict_passes(command):
    for option, passes in (("", "The build passes; --strict fails it. "), ("--strict", "The build fails, because of ")):
        output = command(f"gate qrels this.run --against that.run -m RR {option}")[1]
        assert output.splitlines()[1].startswith(passes)


def test_stored_values_stand_for_runs(command):
    """What eval --out stored is printed, compared and judged."""
    line, stored = "eval qrels bad.run good.run -m RR -m AP --spread --format csv", "stored/bad.npz stored/good.npz"
    printed = command(f"{line} --out stored")[1]
    assert command(f"eval qrels {stored} --format csv")[1] == printed
    only = command("eval qrels bad.run good.run -m AP --spread --format csv")[1]
    assert command(f"eval qrels {stored} -m AP --format csv")[1] == only
    for files in (stored, "stored", "bad.run good.run"):
        text = command(f"compare qrels {files} -m RR --baseline good --format json")[1]
        (pair,) = json.loads(text)["measures"][0]["pairs"]
        assert (pair["run"], pair["verdict"], round(pair["difference"], 9)) == ("bad", "worse", -0.638888889)
    assert command("gate qrels stored/bad.npz --against stored/good.npz -m RR")[0] == 1
    # One file may have further measures, if those that are asked for are in both.
    command("eval qrels bad.run -m R@3 --spread --out stored")
    assert command(f"compare qrels {stored} -m RR --baseline good")[0] == 0


STORED = "stored/bad.npz stored/good.npz"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"eval qrels {STORED} --ties optimistic",
         "--ties cannot change values that are stored; see tieaware eval --help"),
        (f"eval qrels {STORED} -m P@5", "-m: no measure 'P@5'; there are 2: RR, AP; see tieaware eval --help"),
        ("compare qrels stored/bad.npz good.run",
         "RUN: stored/bad.npz has stored values and good.run scores; give either values or scores; "
         "see tieaware compare --help"),
        ("ties stored/bad.npz", "stored/bad.npz: has values that were stored; scores of a run are required here"),
    ],
)  # fmt: skip
def test_what_stored_values_cannot_do_is_refused(command, line, message):
    command("eval qrels bad.run good.run -m RR -m AP --out stored")
    assert command(line) == (2, "", f"{message}\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("short.run --against good.run",
         "run short: no documents for 2 queries that the base answers: q7, q8; if that is meant, --allow-missing (in "
         "Python allow_missing=True) counts them 0"),
        ("bad.run --against good.run --tolerance -1",
         "--tolerance: expected a number from 0 to 1e+150, found -1.0; see tieaware gate --help"),
        ("bad.run --against base.npz --against good.run",
         "--against: base.npz holds a whole side, so it must be the only one; see tieaware gate --help"),
        ("bad.run --against base.npz",
         "base.npz: there is no such file; without --against, --save writes a first base"),
        ("bad.run --against good.run --tolerance 1%",
         "tieaware gate: argument --tolerance: expected a number in the unit of the measure, such as 0.01, found "
         "'1%'; see tieaware gate --help"),
        ("bad.run --base good.run",
         "tieaware gate: --base has another name here: write --against BASE; see tieaware gate --help"),
        ("bad.run --against good.run --json -",
         "tieaware gate: argument --json: expected a file name, found '-'; see tieaware gate --help"),
        ("bad.run --against good.run this.run", "tieaware gate: unrecognized arguments: this.run: each base "
         "needs its own option; write --against this.run; see tieaware gate --help"),
        ("good.run --against good.run --save base.parquet",
         "tieaware gate: argument --save: expected a file name that ends in .npz, found 'base.parquet'; "
         "see tieaware gate --help"),
        ("good.run --against good.run --save nowhere/base.npz", "nowhere/base.npz: No such file or directory"),
        ("good.run --against bad.run --against bad.run",
         "--against: each run must be given only once; bad.run is given twice; see tieaware gate --help"),
        ("- --against -", "-: standard input can be read only once, but is given 2 times"),
        ("bad.run", "--against: is required, except to save the first base: --save BASE.npz; see tieaware gate --help"),
    ],
)  # fmt: skip
def test_errors_are_one_line_and_status_2(command, line, message):
    status, output, errors = command(f"gate qrels {line} -m RR")
    assert (status, output, errors) == (2, "", f"{message}\n")
