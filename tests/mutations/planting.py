"""Copies of the sources in which a fault is planted, and the tests that run on such a copy."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import numpy as np
from mutations.planted import Fault

ROOT = Path(__file__).parents[2]
# Tests in the copy run in a process of their own, by the module below.
RUNNER = Path(__file__).parent / "in_copy.py"
# No fault may take longer to be found: planting it, building its kernels and running its tests.
LONGEST = 300


class Copy:
    """A copy of the package and of its kernels' sources, with the kernels that are installed.

    Parameters
    ----------
    folder : Path
        Where to make the copy; it is replaced if it exists.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        for name in ("ext", "src"):
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        shutil.copy(ROOT / "CMakeLists.txt", folder)
        self._kernels = folder / "src" / "tieaware" / "kernels"
        self._installed = Path(importlib.util.find_spec("tieaware.kernels._engine").origin).parent
        for kernel in self._installed.glob("_*.*.so"):
            shutil.copy(kernel, self._kernels)

    @cached_property
    def _build(self) -> Path:
        """The folder in which single kernels are built."""
        import cython_cmake

        build = self.folder / "build"
        subprocess.run(
            [
                "cmake", "-G", "Ninja", "-S", self.folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                f"-DPython_EXECUTABLE={sys.executable}", f"-DPython_NumPy_INCLUDE_DIR={np.get_include()}",
                f"-DCMAKE_MODULE_PATH={Path(cython_cmake.__file__).parent / 'cmake'}",
            ],
            env=self._environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return build

    @property
    def _environment(self) -> dict[str, str]:
        """The environment, with the programs of the Python that runs."""
        return {**os.environ, "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}

    def plant(self, fault: Fault) -> None:
        """Make a fault in the copy, and build its kernels."""
        path = self.folder / fault.path
        text = path.read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, f"{fault.path} must contain this text once: {fault.old!r}"
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        if fault.built:
            done = subprocess.run(
                ["cmake", "--build", self._build, "--target", *fault.built],
                env=self._environment, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            for name in fault.built:
                (built,) = self._build.glob(f"{name}.*.so")
                shutil.copy(built, self._kernels)

    def remove(self, fault: Fault) -> None:
        """Take a fault out of the copy."""
        shutil.copy(ROOT / fault.path, self.folder / fault.path)
        for name in fault.built:
            (kernel,) = self._installed.glob(f"{name}.*.so")
            shutil.copy(kernel, self._kernels)

    def differs(self, seconds: float) -> bool:
        """Return whether the differential fuzzer finds a list for which two ways give different values in time."""
        done = subprocess.run(
            [sys.executable, RUNNER, self.folder / "src", ROOT / "fuzz" / "differential.py", "--seconds", str(seconds)],
            cwd=ROOT, capture_output=True, text=True, timeout=LONGEST,
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr[-2000:]
        return done.returncode == 1

    def failed(self, *tests: str) -> list[str]:
        """Run tests with the copy until one fails; return the names of those that failed.

        Raises
        ------
        AssertionError
            If the tests do not run to a verdict: they crash, take too long, or are not there.
        """
        report = self.folder / "failed.json"
        report.unlink(missing_ok=True)
        done = subprocess.run(
            # With a fixed seed, the examples of hypothesis are the same every time.
            [
                sys.executable, RUNNER, self.folder / "src", report, "-x", "-q", "-m", "not slow",
                "--hypothesis-seed=0", *tests,
            ],
            cwd=ROOT, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True,
            timeout=LONGEST,
        )  # fmt: skip
        assert done.returncode in (0, 1), f"status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        found: list[str] = json.loads(report.read_text(encoding="utf-8"))
        assert bool(found) == bool(done.returncode)
        return found
