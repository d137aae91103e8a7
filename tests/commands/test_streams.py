"""Standard output and standard error: terminals, failing streams and interruptions."""

import os
import signal
import subprocess
import sys

import pytest

import tieaware
from tieaware import InputError
from tieaware.cli import main
from tieaware.commands import demo_command as demo
from tieaware.errors import printable

COMMAND = [sys.executable, "-m", "tieaware.cli"]
NAMES = ["q\x1b[31m", "q\u202e", "q\udcff", "q\u00e9"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, line in (("qrels", "{} 0 a 1"), ("run", "{} Q0 a 1 1 t")):
        text = "".join(f"{line.format(query)}\n" for query in NAMES)
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    return tmp_path


def on_a_terminal(columns, *arguments, command=COMMAND):
    """Run a command in a terminal with this number of columns, and return the output."""
    pty, fcntl, termios, struct = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios", "struct"))
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    child = subprocess.Popen([*command, *arguments], stdout=end, stderr=end, env=environment)
    os.close(end)
    printed = b""
    while True:
        try:
            printed += os.read(terminal, 4096) or b""
        except OSError:  # the child has closed its end of the terminal
            break
    os.close(terminal)
    assert child.wait() == 0, printed
    return printed.decode().replace("\r\n", "\n")


def test_identifiers_are_escaped_on_a_terminal_and_unchanged_in_a_pipe(files):
    arguments = ["eval", "qrels", "run", "-q", "-m", "RR"]
    piped = subprocess.run([*COMMAND, *arguments], capture_output=True, check=True).stdout
    queries = [line.split(b"\t")[1] for line in piped.splitlines()]
    assert queries == [*(name.encode("utf-8", "surrogateescape") for name in NAMES), b"all"]
    shown = [line.split("\t")[1] for line in on_a_terminal(80, *arguments).splitlines()]
    assert shown == ["q\\x1b[31m", "q\\u202e", "q\\xff", "q\u00e9", "all"]


def test_tables_fit_the_terminal_and_are_complete_in_a_pipe(files):
    (files / "a run with a long name and \x1b[31m").write_bytes((files / "run").read_bytes())
    arguments = ["ties", "run", "a run with a long name and \x1b[31m", "--qrels", "qrels"]
    for columns in (40, 80, 120):
        printed = on_a_terminal(columns, *arguments)
        assert max(map(len, printed.splitlines())) <= columns
        assert "\x1b" not in printed
        assert "printed with --all" in " ".join(printed.split())
    piped = subprocess.run([*COMMAND, *arguments], capture_output=True, check=True, text=True).stdout
    assert "a run with a long name and \\x1b[31m " in piped
    assert max(map(len, piped.splitlines())) > 120


@pytest.mark.parametrize(
    ("redirection", "status", "message"),
    [
        (">/dev/full", 2, "standard output: cannot be written: No space left on device\n"),
        (">&-", 2, "standard output: cannot be written: it is closed\n"),
        (">/dev/null 2>&-", 0, ""),
    ],
)
@pytest.mark.parametrize("arguments", ["eval qrels run", "--help"])
def test_an_error_while_writing_the_output_is_one_line(files, redirection, status, message, arguments):
    shell = f"{sys.executable} -m tieaware.cli {arguments} {redirection}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", message)


def test_the_exit_status_reports_an_error_even_if_standard_error_is_closed(files):
    for redirection in ("2>/dev/full", "2>&-"):
        shell = f"{sys.executable} -m tieaware.cli eval qrels none {redirection}"
        assert subprocess.run(["bash", "-c", shell], capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize("command", ["", "eval", "curve"])
def test_help_is_printed_in_any_locale(command):
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*COMMAND, *command.split(), "--help"], capture_output=True, env=environment, check=True)
    assert done.stdout.decode("utf-8").startswith("usage: tieaware")
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (MemoryError(), 2, "out of memory\n"),
        (MemoryError("Unable to allocate 1 TiB"), 2, "out of memory: Unable to allocate 1 TiB\n"),
        (OSError(5, "Input/output error", "/a\x1b"), 2, "/a\\x1b: Input/output error\n"),
        (ImportError("a.so: failed to map segment"), 2, "a.so: failed to map segment\n"),
        (InputError("line\x1b[2J: expected \n, found \udc80"), 2, "line\\x1b[2J: expected \\n, found \\x80\n"),
    ],
)
def test_every_expected_exception_is_reported_in_one_line(monkeypatch, capfd, error, status, message):
    def fail(_):
        raise error

    monkeypatch.setattr(demo, "_run", fail)
    assert main(["demo"]) == status
    assert capfd.readouterr() == ("", message)


def test_errors_of_argparse_have_no_escape_sequences(refused):
    found = refused("eval", "qrels", "run", "--\x1b[31m", "a\nb")
    assert found.startswith("tieaware eval: unrecognized arguments: --\\x1b[31m a\\nb;")


def test_an_interrupt_ends_a_command():
    code = """if True:
        import signal, sys, time
        from tieaware.cli import main
        from tieaware.commands import demo_command as demo
        def wait(_):
            print("ready", file=sys.stderr, flush=True)
            time.sleep(30)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        demo._run = wait
        sys.exit(main(["demo"]))"""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as child:
        assert child.stderr.readline() == b"ready\n"
        child.send_signal(signal.SIGINT)
        assert child.stderr.read() == b"interrupted\n"
        assert child.wait() == 130


def test_progress_is_shown_on_a_terminal_and_erased_at_the_end(files):
    """Bars appear after a second on a terminal, and never in a pipe."""
    code = """if True:
        import sys, time
        from tieaware.cli import main
        from tieaware.commands import demo_command as demo
        from tieaware.runtime.progress import stage
        def slow(_):
            with stage("steps", 2) as advance:
                time.sleep(1.1)
                advance(1)
            return "done\\n"
        demo._run = slow
        sys.exit(main(["demo"]))"""
    shown = on_a_terminal(80, command=[sys.executable, "-c", code])
    assert "steps: " in shown
    assert shown.rpartition("\r")[2] == "done\n"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (piped.stdout, piped.stderr) == (b"done\n", b"")


@pytest.mark.parametrize(
    ("interrupted", "arguments"),
    [
        ("tieaware.inputs.files.byte_streams.ByteStream.read_into", "eval qrels run"),
        ("tieaware.results.storage.write", "eval qrels run run2 --out out"),
        ("os.fsync", "eval qrels run run2 --out out"),
        ("os.replace", "eval qrels run run2 --out out"),
        ("os.replace", "ties run --plot out/f.svg"),
        ("matplotlib.figure.Figure.savefig", "ties run --out out"),
        ("tieaware.output.tables.write_csv", "ties run --out out"),
        ("os.replace", "ties run --out out"),
        ("tieaware.output.tables.Table.__str__", "ties run"),
    ],
)
def test_an_interrupt_at_any_stage_is_one_line_and_leaves_no_files(files, monkeypatch, capfd, interrupted, arguments):
    """The interrupt comes during the first call of the function that the test case names."""
    (files / "run2").write_bytes((files / "run").read_bytes())
    (files / "out").mkdir()
    called = []

    def interrupt(*_, **__):
        called.append(interrupted)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(interrupted, interrupt)
    # Restore Python's handler: the signal is ignored if the tests run in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main([*arguments.split(), "--threads", "1"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert called == [interrupted]
    assert capfd.readouterr() == ("", "interrupted\n")
    assert list((files / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("handler", "module", "expected"),
    [
        ("default_int_handler", "numpy", (130, "", "interrupted\n")),
        ("default_int_handler", "tieaware.commands.eval_command", (130, "", "interrupted\n")),
        ("SIG_IGN", "numpy", (0, f"tieaware {tieaware.__version__}\n", "")),
    ],
)
def test_an_interrupt_while_modules_are_loaded(handler, module, expected):
    """The interrupt comes when the module begins to load. If interrupts are ignored, the command continues."""
    code = f"""if True:
        import os, signal, sys, tieaware_command
        class Interrupt:
            def find_spec(self, name, *_):
                if name == "{module}":
                    os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, Interrupt())
        sys.argv = ["tieaware", "--version"]
        signal.signal(signal.SIGINT, signal.{handler})
        sys.exit(tieaware_command.main())"""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (child.returncode, child.stdout, child.stderr) == expected


@pytest.mark.parametrize("threads", [None, "3"])
def test_the_command_starts_one_openblas_thread_unless_the_user_sets_a_number(threads):
    """The command also enables garbage collection after it has loaded its modules."""
    code = f"""if True:
        import atexit, gc, os, sys, tieaware_command
        if {threads!r}:
            os.environ["OPENBLAS_NUM_THREADS"] = {threads!r}
        atexit.register(lambda: print(os.environ["OPENBLAS_NUM_THREADS"], gc.isenabled(), gc.get_freeze_count() > 0))
        sys.argv = ["tieaware", "--version"]
        sys.exit(tieaware_command.main())"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    command = [sys.executable, "-c", code]
    child = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert child.stdout.splitlines()[-1] == f"{threads or 1} True True"


def test_printable_text_is_not_changed():
    text = "naïve \u4e2d\u6587 a\\b 🙂"
    assert printable(text) is text
    assert printable("a\tb\nc\x00", keep="\t\n") == "a\tb\nc\\x00"
