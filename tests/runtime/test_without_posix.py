"""Files, threads and the command line in a Python without the functions that Windows lacks."""

import subprocess
import sys

# NumPy and modules of the standard library depend on the platform, so the program imports them before it changes the
# platform.
PRELUDE = """if True:
    import os, sys, tempfile, shutil, subprocess, numpy
    for name in ("fcntl", "resource", "pwd", "grp", "termios", "posix"):
        sys.modules[name] = None
    for name in ("fork", "register_at_fork", "sched_getaffinity", "sysconf", "getuid", "mkfifo"):
        delattr(os, name)
    sys.platform = "win32"
"""

CODE = """
    from pathlib import Path
    import tieaware
    from tieaware.runtime.atomic_files import unfinished_folder, whole_file
    from tieaware.cli import main

    os.mkdir(".unfinished-empty")
    os.mkdir(".unfinished-left")
    for name in (".held", "cut.csv"):
        open(f".unfinished-left/{name}", "wb").close()
    with whole_file("file") as file:
        file.write(b"whole")
    assert os.listdir() == ["file"]
    with unfinished_folder(".") as made:
        assert os.listdir(made) == [".held"]
        open(os.path.join(made, "cut.csv"), "wb").close()
    assert os.listdir() == ["file"]

    Path("qrels").write_bytes(b"1 0 a 1\\n1 0 b 0\\n2 0 a 1\\n")
    Path("run").write_bytes(b"1 Q0 a 1 0.5 r\\n1 Q0 b 2 0.5 r\\n2 Q0 a 1 0.5 r\\n")
    assert tieaware.evaluate("qrels", "run", ["RR"])["run", "RR"].tolist() == [0.75, 1.0]
    assert tieaware.Evaluator([1, 0] * 99, ["P@1"], group=[2] * 99, threads=2).mean([0.0] * 198)[0] == 0.5
    sys.exit(main(["eval", "qrels", "run", "-m", "RR", "--out", "values"]))
"""


def test_nothing_that_windows_lacks_is_used(tmp_path):
    child = subprocess.run([sys.executable, "-c", PRELUDE + CODE], cwd=tmp_path, capture_output=True, text=True)
    assert child.stderr == ""
    assert child.returncode == 0
    assert "0.8750" in child.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "qrels", "run", "values"]
