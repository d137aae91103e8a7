"""Each write of each command fails in turn: the command prints one line and exits with status 2.

Each output file is then the old one, the whole new one, or absent.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

# Imported before the tests fork, because each child would otherwise import them again.
import matplotlib.backends.backend_agg
import matplotlib.backends.backend_svg  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
from injected import ALL_LATER, WRITES
from inputs import texts

import tieaware
import tieaware.experiments
import tieaware.results.paper_table
from tieaware.cli import main

TIEAWARE = [sys.executable, "-m", "tieaware.cli"]

# The commands that print, and the commands that write a folder of tables and figures.
PRINTED = {
    "eval": "eval qrels a b -q",
    "eval json": "eval qrels a --format json --spread",
    "eval table": "eval qrels a b --table latex",
    "trec_eval": "trec_eval -q qrels a",
    "ties": "ties a b --qrels qrels --all",
    "precision": "precision qrels a b --format csv",
    "compare": "compare qrels a b",
    "worst-case": "worst-case -m AP --depth 20",
    "curve": "curve qrels a",
    "smooth": "smooth qrels a b c d --topics 3 --repeats 5",
    "overhead": "overhead --queries 20 -m AP",
    "demo": "demo",
    "help": "--help",
    "version": "--version",
}
WRITTEN = {
    "ties": "ties a b --qrels qrels",
    "precision": "precision qrels a b --precision bfloat16",
    "compare": "compare qrels a b",
    "curve": "curve qrels a b",
    "smooth": "smooth qrels a b c d --topics 3 --repeats 5",
    "overhead": "overhead --queries 20 -m AP",
}


@pytest.fixture
def folder(in_memory, monkeypatch):
    """Give a folder with judgments and runs, and make it the working directory."""
    for seed, name in enumerate("abcd"):
        qrels, run = texts(9, 12, seed)
        (in_memory / name).write_bytes(run)
    (in_memory / "qrels").write_bytes(qrels)
    monkeypatch.chdir(in_memory)
    return in_memory


class Child:
    """A forked child that runs a command with its output in files; its exit status, output, errors and calls."""

    def __init__(self, folder, arguments, faults, first=0, last=0, error=errno.ENOSPC, out="output"):
        calls = folder / "calls"
        pid = os.fork()
        if pid == 0:
            status = 99
            try:
                for descriptor, name in ((1, out), (2, "errors")):
                    file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                    os.dup2(file, descriptor)
                # Faults affect files with names that begin with "out"; the test's own files have other names.
                sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
                with faults.armed(WRITES, first, last, place=str(folder / "out"), error=error):
                    try:
                        status = main(arguments.split())
                    except SystemExit as end:
                        status = end.code or 0
                    sys.stdout.flush()
                calls.write_text(f"{faults.calls} {faults.failures}")
            except BaseException as raised:
                (folder / "errors").write_text(f"a traceback: {raised!r}")
            finally:
                os._exit(status)
        self.status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.output, self.errors = (folder / out).read_bytes(), (folder / "errors").read_text()
        self.calls, self.failures = map(int, calls.read_text().split()) if calls.exists() else (0, 0)


def one_line(errors):
    return errors.count("\n") == 1 and errors.endswith("\n") and "Traceback" not in errors and "traceback" not in errors


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EPIPE, -1], ids=["full", "fails", "closed", "short"])
@pytest.mark.parametrize("command", PRINTED)
def test_failed_writes_to_standard_output(faults, folder, command, error):
    right = Child(folder, PRINTED[command], faults, first=10**9, last=10**9)
    assert right.status == 0, right.errors
    assert right.calls > 0
    if command == "overhead":
        # The output contains times, which differ from call to call.
        right.output = b""
    for n in range(1, right.calls + 1):
        for last in (n, ALL_LATER):
            child = Child(folder, PRINTED[command], faults, n, last, error)
            assert child.failures >= 1
            if error == -1:
                assert (child.status, child.errors) == (0, right.errors)
                assert child.output == right.output or not right.output
            elif error == errno.EPIPE:
                assert (child.status, child.errors) == (141, right.errors)
            else:
                message = child.errors.removeprefix(right.errors)
                reason = os.strerror(error)
                assert (child.status, message) == (2, f"standard output: cannot be written: {reason}\n")


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, -100], ids=["full", "read-only", "short"])
@pytest.mark.parametrize("old", [False, True], ids=["nothing there", "old files there"])
def test_failed_writes_of_a_report(faults, in_memory, experiment, old, error):
    """No file is renamed to its final name until all files are written; then one after another is."""
    target = in_memory / "out"
    experiment.write(target)
    names = set(files_in(target))

    def start_again():
        shutil.rmtree(target, ignore_errors=True)
        if old:
            target.mkdir()
            for name in names:
                (target / name).write_text("old")

    for n, outcome in faults.each(
        lambda: experiment.write(target), WRITES, before=start_again, all_later=True, place=str(in_memory), error=error
    ):
        found = files_in(target)
        assert {name for name in found if name.startswith(".")} == set(), n
        assert all(content == b"old" or is_whole(name, content) for name, content in found.items()), n
        assert (outcome.error is None) == (error < 0 or outcome.failures == 0), n
        if outcome.error is None:
            assert set(found) == names
            assert b"old" not in found.values()
        else:
            assert isinstance(outcome.error, tieaware.InputError), repr(outcome.error)
            assert os.strerror(error) in str(outcome.error)
    # Each file takes at least one write.
    assert n > len(names) >= 4


@pytest.mark.parametrize("command", WRITTEN)
def test_failed_writes_of_the_report_of_each_command(faults, folder, command):
    """The first write fails, in another call one in the middle, and in a third call the last."""
    target = folder / "out"
    arguments = f"{WRITTEN[command]} --out {target}"
    new = Child(folder, arguments, faults, first=10**9, last=10**9, out="printed")
    assert new.status == 0, new.errors
    assert "report.html" in files_in(target)
    for n in (1, new.calls // 2, new.calls - 1):
        shutil.rmtree(target, ignore_errors=True)
        child = Child(folder, arguments, faults, n, ALL_LATER, out="printed")
        assert child.status == 2, (n, child.errors)
        assert one_line(child.errors), (n, child.errors)
        assert "No space left on device" in child.errors
        assert all(is_whole(name, content) for name, content in files_in(target).items()), n


def is_whole(name, content):
    ends = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n", ".html": b"</html>\n", ".csv": b"\n", ".npz": b""}
    return content.endswith(ends[Path(name).suffix]) and len(content) > 3


@pytest.mark.parametrize("name", ["out.png", "out.svg", "out.npz", "out.parquet", "out.csv"])
@pytest.mark.parametrize("old", [False, True], ids=["nothing there", "old file there"])
def test_failed_writes_of_a_single_file(faults, folder, name, old):
    """A single file is whole or unchanged after each failed write, whether or not the later writes fail, too."""
    results = tieaware.evaluate("qrels", {"a": "a", "b": "b"}, ["AP", "P@5"], threads=1)
    path = folder / name
    if name.endswith(("npz", "parquet")):
        write, read = results.save, lambda path: tieaware.Results.load(path).values.tobytes()
    elif name == "out.csv":
        write, read = results.means().to_csv, Path.read_bytes
    else:
        from tieaware.experiments import tie_prevalence

        write = next(iter(tie_prevalence(["a"]).drawings().values())).save
        # The identifiers in an SVG file differ each time it is drawn, so only its end is checked.
        read = lambda path: is_whole(path.name, path.read_bytes())  # noqa: E731
    write(path)
    right = read(path)

    def start_again():
        path.unlink(missing_ok=True)
        if old:
            path.write_text("old")

    for all_later in (False, True):
        for n, outcome in faults.each(
            lambda: write(path), WRITES, before=start_again, all_later=all_later, place=str(folder), error=errno.ENOSPC
        ):
            assert {each.name for each in folder.iterdir()} - {*"abcd", "qrels", name} == set()
            if outcome.error is None:
                assert read(path) == right, n
            else:
                assert isinstance(outcome.error, tieaware.InputError), repr(outcome.error)
                assert (path.read_text() == "old") if old else not path.exists()
        assert n > 4


# ---- errors of the operating system itself -------------------------------------------------------------------------


def shell(command, **options):
    done = subprocess.run(
        ["bash", "-c", command.replace("tieaware ", " ".join(TIEAWARE) + " ", 1)], capture_output=True, text=True,
        check=False, **options,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["eval qrels a b -q", "trec_eval -q qrels a", "demo", "worst-case -m AP --depth 9"])
def test_a_full_disk_and_a_closed_pipe(folder, command):
    full = "standard output: cannot be written: No space left on device\n"
    assert shell(f"tieaware {command} > /dev/full") == (2, "", full)
    assert shell(f"tieaware {command} | head -c 1 > /dev/null; exit ${{PIPESTATUS[0]}}")[2] == ""
    status, _, errors = shell(f"tieaware {command} | true; exit ${{PIPESTATUS[0]}}")
    assert (status in (0, 141), errors) == (True, "")


@pytest.mark.parametrize("size", [0, 100, 1000, 5000])
def test_a_limit_on_the_size_of_files(folder, size):
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    for command in (f"tieaware ties a --out {folder}/out", f"tieaware ties a --plot {folder}/out.png"):
        status, _, errors = shell(command, preexec_fn=limited)
        assert status == 2, errors
        assert one_line(errors), errors
        assert "File too large" in errors
    assert files_in(folder / "out") == {}
    assert not (folder / "out.png").exists()


def test_a_read_only_folder(folder):
    """Root may write into read-only folders; as root, the test drops that capability first."""
    (folder / "closed").mkdir()
    (folder / "closed").chmod(0o555)
    prefix = "setpriv --bounding-set=-dac_override " if os.geteuid() == 0 else ""
    for out in ("--out closed", "--out closed/new", "--plot closed/a.png"):
        command = prefix + " ".join(TIEAWARE) + f" ties a {out}"
        status, _, errors = shell(command)
        assert (status, errors.count("\n")) == (2, 1), errors
        assert errors.startswith("closed")
        assert "Permission denied" in errors
    assert list((folder / "closed").iterdir()) == []
