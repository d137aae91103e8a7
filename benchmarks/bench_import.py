"""The time to import the package in a new process, alone and with a first evaluation, compared with importing NumPy."""

import sys
from functools import partial

import pytest

from benchmarks import processes

EVALUATE = """
result = tieaware.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, ["AP", "nDCG@10"])
print(result.values[0, 0].round(4).tolist())
"""


@pytest.mark.parametrize(
    ("workload", "code", "output", "at_most"),
    [
        ("import alone", "print(tieaware.__name__)", "tieaware\n", 1.3),
        ("import and a first `evaluate` of dicts", EVALUATE, "[0.75, 0.8155]\n", 2.0),
    ],
)
def test_import(compare, workload, code, output, at_most):
    program = sys.executable, "-c", f"import numpy, tieaware\n{code}"

    def check() -> None:
        assert processes.run(*program).output == output

    compare(
        "Import, in a new process", workload, check=check, contender=partial(processes.run, *program),
        baseline=partial(processes.run, sys.executable, "-c", "import numpy"), to="`import numpy`", at_most=at_most,
        budget=8,
    )  # fmt: skip
