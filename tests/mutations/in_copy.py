"""Run pytest or a program with a copy of the package.

    python in_copy.py SOURCES REPORT ARGUMENT...
    python in_copy.py SOURCES PROGRAM.py ARGUMENT...

REPORT is a file that receives the names of the failed tests as JSON. A module that cannot be imported is an error and
not a failed test.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest


class _Failures:
    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.names.append(report.nodeid)


def main(sources: str, report: str, *arguments: str) -> int:
    """Run the tests with the package in `sources`; return pytest's status, or that of the program."""
    # An editable install has a finder that comes before sys.path.
    sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
    sys.path.insert(0, sources)
    import tieaware

    assert Path(tieaware.__file__).is_relative_to(sources), tieaware.__file__
    if report.endswith(".py"):
        sys.argv[:] = [report, *arguments]
        sys.path.insert(0, str(Path(report).parent))
        runpy.run_path(report, run_name="__main__")
        return 0
    failures = _Failures()
    status = pytest.main(["-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin", *arguments], [failures])
    Path(report).write_text(json.dumps(failures.names), encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
