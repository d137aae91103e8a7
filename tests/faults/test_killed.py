"""A process is killed at a random moment: each file that it writes is the old one, the whole new one, or absent."""

from __future__ import annotations

import os
import random
import signal
import time

import numpy as np
import pytest

import tieaware
from tieaware import retrieval

TIMES = 60
QUERIES = tuple(range(500))
MEASURES = tuple(map(tieaware.parse_measure, ("AP", "RR", "P")))
RESULTS = {
    name: tieaware.Results(np.full((2, 500, 3), value), ("a", "b"), QUERIES, MEASURES)
    for name, value in (("old", 0.25), ("new", 0.5))
}
INDEXES = {
    name: retrieval.Index.from_tokens([[number, 1 - number]] * 20_000, [name, "tie"])
    for number, name in enumerate(("old", "new"))
}
ENDS = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n", ".html": b"</html>\n", ".csv": b"\n"}


def killed(work, longest, rng):
    """Do some work in a child process, kill it after a random time of at most `longest` seconds.

    Returns whether the child was killed before it finished.
    """
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    time.sleep(rng.uniform(0, longest))
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def duration(work):
    """Return the shortest of three durations of some work, in seconds; the first time may include imports."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def adapted(longest, was_killed):
    """Return a longer limit after a kill, otherwise a shorter one, so that about half of the children are killed."""
    return longest * (1.2 if was_killed else 0.8)


def unfinished(folder):
    return list(folder.rglob(".unfinished-*"))


def results_at(path):
    """Check that a file holds all values of the old or of the new results; return which."""
    values = tieaware.Results.load(path).values
    found = "old" if values[0, 0, 0] == 0.25 else "new"
    assert np.array_equal(values, RESULTS[found].values)
    return found


def index_at(path):
    """Check that a file holds all of the old or of the new index; return which."""
    index = retrieval.Index.load(path)
    assert np.array_equal(index.postings.positions, INDEXES[index.terms[0]].postings.positions)
    return index.terms[0]


@pytest.mark.parametrize(
    ("name", "versions", "read"),
    [
        ("results.npz", RESULTS, results_at),
        ("results.parquet", RESULTS, results_at),
        ("texts.index", INDEXES, index_at),
    ],
)
def test_killed_writers_of_a_single_file(tmp_path, name, versions, read):
    path = tmp_path / name
    rng = random.Random(1)
    longest = duration(lambda: versions["old"].save(path))
    seen = {"old": 0, "new": 0, "absent": 0}
    n_killed = 0
    for i in range(TIMES):
        if i % 2:
            path.unlink()
        else:
            versions["old"].save(path)
        was_killed = killed(lambda: versions["new"].save(path), 1.5 * longest, rng)
        n_killed, longest = n_killed + was_killed, adapted(longest, was_killed)
        found = read(path) if path.exists() else "absent"
        assert found != ("old" if i % 2 else "absent")
        seen[found] += 1
        if found == "absent":
            versions["old"].save(path)
    assert n_killed > TIMES // 4
    assert seen["old"] > 0
    assert seen["new"] > 0
    # Writing the file again removes the unfinished files of killed children.
    versions["old"].save(path)
    assert unfinished(tmp_path) == []


def test_killed_writers_of_a_report(tmp_path, experiment):
    """The files are renamed one after another, so old and new ones may be mixed; each is whole."""
    target = tmp_path / "report"
    experiment.write(target)
    longest = duration(lambda: experiment.write(target))
    names = {path.name for path in target.iterdir()}
    rng = random.Random(2)
    n_killed = 0
    for i in range(TIMES):
        for name in names:
            if i % 2:
                (target / name).write_text("old")
            else:
                (target / name).unlink(missing_ok=True)
        was_killed = killed(lambda: experiment.write(target), longest, rng)
        n_killed, longest = n_killed + was_killed, adapted(longest, was_killed)
        for path in target.iterdir():
            if path.is_file():
                content = path.read_bytes()
                assert path.name in names
                assert content == b"old" or content.endswith(ENDS[path.suffix]), path
    assert n_killed > TIMES // 4
    experiment.write(target)
    assert {path.name for path in target.iterdir()} == names
