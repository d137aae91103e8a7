"""The time of new processes, compared with one that imports NumPy: the import, and commands with little to do."""

import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks import processes
from benchmarks.workloads import as_dicts, distinct_scores, labels
from tieaware import Qrels, Run, evaluate

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


def test_trec_eval(compare, tmp_path, small):
    """All measures of trec_eval for each query of one run of TREC's size."""
    n_queries = 5 if small else 30
    qrels, run = as_dicts(distinct_scores(n_queries, 1_000), labels(n_queries, 1_000, 50))
    Run.from_dict(run).write(tmp_path / "a.run")
    lines = (f"{query} 0 {doc} {label}\n" for query, judged in qrels.items() for doc, label in judged.items())
    (tmp_path / "qrels").write_text("".join(lines))
    command = "trec_eval", "-q", "-m", "all_trec", str(tmp_path / "qrels"), str(tmp_path / "a.run")
    program = Path(sys.executable).with_name("tieaware"), *command

    def check() -> None:
        printed = [line.split("\t") for line in processes.run(*program).output.splitlines()]
        means = {name.strip(): value for name, query, value in printed if query == "all"}
        expected = evaluate(Qrels.from_dict(qrels), Run.from_dict(run), ["AP", "nDCG", "RR"]).mean()[0]
        assert [means[name] for name in ("map", "ndcg", "recip_rank")] == [f"{value:.4f}" for value in expected]

    compare(
        "Commands, as new processes", f"`trec_eval -q -m all_trec`, one run of {n_queries} × 1,000", check=check,
        contender=partial(processes.run, *program),
        baseline=partial(processes.run, sys.executable, "-c", "import numpy"), to="`import numpy`", at_most=2.0,
        budget=8,
    )  # fmt: skip
