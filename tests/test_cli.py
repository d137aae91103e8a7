"""The command line: its output and its errors."""

import argparse
import gzip
import json
import math
import os
import subprocess
import sys

import pytest

from tieaware.cli import _all_commands
from tieaware.commands.options import Once

QRELS = "q1 0 d1 1\nq1 0 d4 2\nq2 0 d1 1\n"
RUN = "q1 Q0 d1 1 7.0 tag\nq1 Q0 d2 2 7.0 tag\nq1 Q0 d3 3 6.5 tag\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.run").write_text(RUN.replace("7.0", "7.5", 1))
    (tmp_path / "bad.run").write_text(RUN + "q2 Q0 d1 1 x tag\n")
    (tmp_path / "twice.run").write_text(RUN + "q1 Q0 d1 4 1.0 tag\nq1 Q0 d2 5 1.0 tag\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # Measures keep the names under which they were given. Values have four decimals, and counts have none.
        (
            "a.run -m recip_rank -m RR@10 -m num_ret",
            "recip_rank            \tall\t0.3750\nRR@10                 \tall\t0.3750\n"
            "num_ret               \tall\t3\n",
        ),
        # trec_eval without -c also leaves out queries that the run lacks.
        (
            "a.run -m RR -q --queries both --digits 2",
            "RR                    \tq1\t0.75\nRR                    \tall\t0.75\n",
        ),
        (
            "a.run -m RR -q --digits 2",
            "RR                    \tq1\t0.75\nRR                    \tq2\t0.00\nRR                    \tall\t0.38\n",
        ),
        (
            "a.run b.run -m RR --digits 2",
            "runid                 \tall\ta\nRR                    \tall\t0.38\n"
            "runid                 \tall\tb\nRR                    \tall\t0.50\n",
        ),
        # With the precision levels:1, all scores tie.
        ("b.run -m RR --queries both --precision levels:1", f"RR                    \tall\t{11 / 18:.4f}\n"),
        ("a.run -m RR -m num_ret --format csv", "run,query,RR,num_ret\na,all,0.375,3.0\n"),
        (
            "a.run -m RR -m num_ret --format markdown",
            "| run | RR | num_ret |\n| --- | ---: | ---: |\n| a | 0.3750 | 3 |\n",
        ),
    ],
)
def test_what_eval_prints(files, printed, arguments, expected):
    assert printed(f"eval qrels.txt {arguments}") == expected


@pytest.mark.parametrize(("undefined", "found"), [("nan", "0.50"), ("1", "0.75"), ("0", "0.25")])
def test_undefined_is_the_value_of_a_query_without_relevant_documents(files, printed, undefined, found):
    (files / "graded.txt").write_text("q1 0 d2 1\nq2 0 d1 0\n")
    out = printed(f"eval graded.txt a.run -m AP --ties pessimistic --digits 2 -q --undefined {undefined}")
    assert out.split()[-2:] == ["all", found]
    assert ("q2" in out) == (undefined != "nan")


@pytest.mark.parametrize(
    "given",
    [
        ["nDCG(dcg='exp-log2', cutoff=2) AP"], ["nDCG(dcg='exp-log2', cutoff=2),AP"],
        [" nDCG (dcg='exp-log2') @ 2 , AP"], ["nDCG(dcg='exp-log2')@2\n\tAP\n"], ["nDCG(dcg=exp-log2)@2", "AP"],
    ],
)  # fmt: skip
def test_one_argument_can_name_several_measures(files, printed, given):
    """Commas and spaces separate measures, except inside parentheses and around an @."""
    options = [option for measure in given for option in ("-m", measure)]
    (values,) = json.loads(printed("eval", "qrels.txt", "a.run", *options, "--format", "json")).values()
    second = 1 / math.log2(3)
    assert list(values["all"].values()) == [pytest.approx((1 + second) / 2 / (3 + second) / 2), 0.1875]


def test_without_measures_it_prints_a_default_set(files, printed):
    names = [line.split("\t")[0].strip() for line in printed("eval qrels.txt a.run").splitlines()]
    assert names[:6] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map"]
    assert "P_1000" in names


@pytest.mark.parametrize(
    ("rule", "value"),
    [("average", 0.75), ("optimistic", 1.0), ("pessimistic", 0.5), ("run_order", 1.0), ("trec_eval", 0.5)],
)
def test_json_has_full_precision_and_follows_the_tie_rule(files, printed, rule, value):
    out = printed(f"eval qrels.txt a.run -m RR -q --format json --ties {rule}")
    assert json.loads(out) == {"a": {"q1": {"RR": value}, "q2": {"RR": 0.0}, "all": {"RR": value / 2}}}


def test_a_compressed_run_on_standard_input_is_recognised_by_its_content(files):
    command = [sys.executable, "-m", "tieaware.cli", "eval", "qrels.txt", "-", "-m", "RR"]
    done = subprocess.run(command, input=gzip.compress(RUN.encode()), capture_output=True, check=True)
    assert done.stdout == b"RR                    \tall\t0.3750\n"


def test_identifiers_that_are_not_utf_8_keep_their_bytes(files):
    (files / "bytes.qrels").write_bytes(b"q\xff 0 d1 1\n")
    (files / "bytes.run").write_bytes(b"q\xff Q0 d1 1 2 tag\n")
    command = [sys.executable, "-m", "tieaware.cli", "eval", "bytes.qrels", "bytes.run", "-m", "RR", "-q"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout.splitlines()[0] == b"RR                    \tq\xff\t1.0000"


def test_a_closed_pipe_is_not_an_error(files):
    """In `tieaware eval … | head -1`, head closes the pipe after one line."""
    lines = "".join(f"q{i} Q0 d1 1 1 t\n" for i in range(20000))
    (files / "long.run").write_text(lines)
    (files / "long.qrels").write_text("".join(f"q{i} 0 d1 1\n" for i in range(20000)))
    shell = f"{sys.executable} -m tieaware.cli eval long.qrels long.run -q -m RR | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", shell], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (141, b"")
    assert done.stdout == b"RR                    \tq0\t1.0000\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels.txt", "none.run"], "none.run: there is no such file\n"),
        (["a.run", "a.run"], "a.run:1: this is a line of a run, "),
        (["qrels.txt", "qrels.txt"], "qrels.txt:1: this is a line of judgments, "),
        (["qrels.txt", "a.run", "-m", "nDGC@1"], "-m: unknown measure 'nDGC@1'; did you mean"),
        (["qrels.txt", "a.run", "-m", "P@0"], "-m: cut-off of measure 'P@0': expected a whole number of at least 1"),
        (["qrels.txt", "a.run", "bad.run", "-m", "RR"], "bad.run:4: the score, field 5, must be a number, not 'x'\n"),
        (
            ["qrels.txt", "twice.run", "-m", "RR"],
            "twice.run:4: document 'd1' of query 'q1' appears twice, first at twice.run:1; to keep only the first row, "
            "pass duplicates='first'\n",
        ),
        (["-", "a.run", "-", "-m", "P"], "-: standard input can be read only once, but is given 2 times\n"),
    ],
)
def test_an_error_is_one_line_with_status_2_and_no_output(files, refused, arguments, message):
    assert refused("eval", *arguments).startswith(message)


@pytest.mark.parametrize("arguments", ["", "eval", "x", "eval a b --ties no", "eval a b --digits x"])
def test_a_wrong_command_is_one_line_with_status_2(refused, arguments):
    assert refused(arguments).startswith("tieaware")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("eval qrels.txt a.run -m P -m P,AP", "-m: must be different, but P is given twice"),
        ("eval qrels.txt a.run a.run", "RUN: each run must be given only once; a.run is given twice"),
        ("eval qrels.txt a.run --threads 0", "--threads: expected a whole number from 1 to 1,024, found 0"),
        ("ties a.run -k 10 -k 0", "-k: expected a whole number of at least 1, found 0"),
        (
            "curve qrels.txt a.run --collection-size 9",
            "--collection-size: is only for the kind 'roc', not for 'precision-recall'",
        ),
        ("curve qrels.txt a.run --kind roc --collection-size 1", "--collection-size: 1 is too small: a retrieves"),
        ("curve qrels.txt a.run --rel -2", "--rel: expected a number from 0 to 2,147,483,648, found -2"),
        ("trec_eval qrels.txt a.run -l -2", "-l: expected a number from 0 to 2,147,483,648, found -2"),
        ("overhead --queries 0", "--queries: expected a whole number from 20 to 100,000,000, found 0"),
        ("compare qrels.txt a.run", "RUN: a comparison needs at least two runs and two queries; found 1 run"),
        ("compare --matrix m.csv", "--matrix: a comparison needs at least two runs and two queries; found 1"),
        ("smooth --matrix n.csv --alpha 2 --topics 1", "--alpha: expected a number from 0 to 1, found 2.0"),
        ("eval qrels.txt b.run --precision decimal:1", "--precision: unknown precision 'decimal:1'; did you mean dec"),
        ("eval qrels.txt a.run --baseline a", "--baseline requires --table"),
        ("eval qrels.txt a.run --table html -q", "--table cannot be combined with -q: a table shows means only"),
        ("compare qrels.txt --matrix m.csv", "--matrix cannot be combined with QRELS and RUN, such as qrels.txt"),
        ("smooth --matrix n.csv --sweep 3 --alpha 1", "--sweep cannot be combined with --alpha"),
        ("smooth --matrix n.csv -m AP,P@5", "-m: expected a single measure, because a system has one score, found AP,"),
        ("trec_eval qrels.txt a.run -R x", "-R: expected one of qrels, found 'x'"),
        ("inexact c t q --method Champions(r=0)", "--method: r of Champions(r=0): expected a whole number of at least"),
        ("worst-case --rho 0.5 -m RR", "--rho: expected a number from 1 to 2^62 of at most 100 digits, such as '1.5'"),
    ],
)  # fmt: skip
def test_an_error_names_the_option_and_points_to_the_help(files, refused, arguments, message):
    (files / "m.csv").write_text("a\n0.5\n0.25\n")
    (files / "n.csv").write_text("a,b,c,d\n" + "0.5,0.25,0.5,0.5\n" * 3)
    err = refused(arguments)
    assert err.startswith(message)
    assert err.lower().endswith(f" see tieaware {arguments.split()[0]} --help\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("eval qrels.txt a.run --threads x", "argument --threads: expected a whole number, found 'x'"),
        ("eval qrels.txt a.run --undefined none", "argument --undefined: expected a number or nan, found 'none'"),
        ("curve qrels.txt a.run --rel x", "argument --rel: expected a number, found 'x'"),
        ("compare qrels.txt a.run --alpha x", "argument --alpha: expected a number, found 'x'"),
        ("eval qrels.txt a.run --thredas 1", "unrecognized arguments: --thredas 1; did you mean --threads"),
        (
            "compare qrels.txt a.run --table latex",
            "unrecognized arguments: --table latex: --table is an option of tieaware eval; see",
        ),
        # In other tools, `-m AP RR` takes both.
        (
            "eval qrels.txt a.run -m AP RR --format csv",
            "unrecognized arguments: RR: RR is a measure, and each measure needs its own -m; see",
        ),
        ("ties a.run -x", "unrecognized arguments: -x"),
        (
            "compare qrels.txt a.run --baseline a b.run",
            "unrecognized arguments: b.run: all RUNs must stand one after another, without an option between them; see",
        ),
        ("compare qrels.txt", "the following arguments are required: RUN; see"),
        ("demo x", "unrecognized arguments: x"),
        # argparse would take the last one, even if it is the default.
        ("precision qrels.txt a.run --find levels --find bands", "argument --find: can be given only once"),
        ("compare qrels.txt a.run --alpha 0.1 --alpha 0.05", "argument --alpha: can be given only once"),
        ("eval qrels.txt a.run --ties run_order --tie average", "argument --ties: can be given only once"),
        ("compare --matrix a.csv --matrix b.csv", "argument --matrix: can be given only once"),
    ],
)
def test_argparse_errors_name_the_command_and_point_to_its_help(refused, arguments, message):
    command = arguments.split()[0]
    err = refused(arguments)
    assert err.startswith(f"tieaware {command}: {message}")
    assert err.lower().endswith(f"see tieaware {command} --help\n")


def test_only_options_that_collect_values_and_flags_can_be_repeated():
    """Options of one value never have argparse's own action, which takes the last of several, as trec_eval does."""
    kinds = {
        type(action) for each in _all_commands() if not each.prog.endswith("trec_eval")
        for action in each._actions if action.option_strings
    }  # fmt: skip
    assert Once in kinds
    assert argparse._StoreAction not in kinds


def test_the_last_value_counts_in_trec_eval(files, command):
    assert command("trec_eval -l 1 -l 2 -m map qrels.txt a.run") == command("trec_eval -l 2 -m map qrels.txt a.run")


def test_duplicate_documents_that_are_ignored_are_counted_in_one_warning(files, command):
    status, out, err = command("eval qrels.txt twice.run -m RR --duplicates first --queries judged")
    assert (status, out) == (0, "RR                    \tall\t0.3750\n")
    assert err.startswith("warning: twice.run: 2 duplicate rows are ignored")


@pytest.mark.parametrize("package", ["scipy", "matplotlib"])
def test_the_error_for_a_missing_package_names_the_extra_to_install(files, refused, monkeypatch, package):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    found = refused("precision qrels.txt a.run b.run --rho 2 --out report")
    assert found == f"{package} is not installed: pip install 'tieaware[analysis]'\n"


def test_the_command_line_starts_without_experiments_and_optional_packages():
    """Importing experiments or optional packages would slow down every command."""
    code = "import sys, tieaware.cli; print(*sorted(m for m in sys.modules if m.partition('.')[0] in sys.argv or"
    code += " m.startswith('tieaware.experiments') or m == 'tieaware.statistics'))"
    loaded = subprocess.run(
        [sys.executable, "-c", code, "scipy", "matplotlib", "tqdm", "pandas", "pyarrow"], capture_output=True, text=True
    )
    assert (loaded.stdout.strip(), loaded.stderr) == ("", "")


def test_a_folder_is_read_as_all_the_runs_in_it(files, printed, refused):
    (files / "runs").mkdir()
    for name in ("b.run", "a.run", ".hidden"):
        (files / "runs" / name).write_text(RUN)
    out = printed("eval qrels.txt runs -m RR")
    assert [line.split("\t")[2] for line in out.splitlines()] == ["a", "0.3750", "b", "0.3750"]
    (files / "empty").mkdir()
    assert refused("eval qrels.txt empty") == "empty: there are no run files in this folder\n"


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("loop", "loop", "runs/loop: the file cannot be opened: Too many levels of symbolic links"),
        ("lost", "nowhere", "runs/lost: there is no such file"),
        ("picture.png", "../picture.png", "runs/picture.png:1"),
    ],
)
def test_a_file_in_a_folder_that_is_not_a_run_is_an_error(files, printed, refused, name, target, reason):
    """Folders in the folder and hidden files are left out."""
    (files / "runs" / "folder").mkdir(parents=True)
    (files / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (files / "a.run").rename(files / "runs" / "a.run")
    (files / "runs" / ".hidden").symlink_to("../picture.png")
    printed("eval qrels.txt runs -m RR")
    (files / "runs" / name).symlink_to(target)
    assert refused("eval qrels.txt runs").startswith(reason)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--out", ""], "argument --out: expected a file name, found ''"),
        (["--out", "a.run"], "argument --out: a.run is a file, not a folder"),
        (["--plot", ""], "argument --plot: expected a file name, found ''"),
    ],
)
def test_an_unusable_output_path_is_refused_before_the_work(files, refused, option, message):
    assert refused("ties", "a.run", *option) == f"tieaware ties: {message}; see tieaware ties --help\n"
    assert not {path.suffix for path in files.iterdir()} & {".html", ".csv", ".svg"}


def test_the_names_of_written_files_are_printed_on_standard_error(files, command):
    status, out, err = command("ties a.run --format csv --out new --plot ties.svg")
    assert (status, out[:4]) == (0, "run,")
    written = sorted(path.suffix for path in (files / "new").iterdir())
    assert written == [".csv"] * 3 + [".html"] + [".png"] * 2 + [".svg"] * 2
    report = "wrote new/report.html, and in the same folder 3 tables (.csv) and 2 figures (.svg, .png)\n"
    assert err == f"{report}wrote ties.svg\n"


def test_runs_from_files_with_unprintable_names_have_readable_and_distinct_names(files, printed, refused):
    """A run has the name of its file, with each control character and each byte that is not UTF-8 escaped."""
    names = [b"a\x1b[31m.run.gz", b"caf\xe9.run", b"caf\xe8.run", "café.run".encode()]
    for name in names:
        (files / os.fsdecode(name)).write_bytes(RUN.encode())
    out = printed("eval", "qrels.txt", *map(os.fsdecode, names), "-m", "RR", "--format", "csv")
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["a\\x1b[31m", "caf\\xe9", "caf\\xe8", "café"]
    assert refused("eval qrels.txt no\x1b(B") == "no\\x1b(B: there is no such file\n"


@pytest.mark.parametrize("path", ["baseline", "runs/threads"])
def test_an_error_in_a_run_named_like_an_argument_keeps_the_name_of_the_run(files, refused, path):
    (files / "runs").mkdir()
    (files / path).write_text("q9 Q0 d1 1 1 tag\n")
    message = f"{path.rpartition('/')[2]}: no query of this run is judged in qrels.txt: the run has 'q9', "
    assert refused(f"eval qrels.txt {path.partition('/')[0]}") == f"{message}the judgments 'q1'\n"
