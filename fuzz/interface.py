"""Fuzzing of the public interface: calls with invalid arguments must return values or raise a one-line error.

libFuzzer chooses the bytes that decide on a call; without clang, they are random: fuzz/interface.py --seconds 60
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
from forked import search
from hostile import Draw, Own, array, frame, number, text

import tieaware
from tieaware import Evaluator, InputError, Qrels, Results, Run, experiments, fairness, optimise, precision, statistics
from tieaware.cli import main
from tieaware.inputs import Identifiers
from tieaware.integrations import link_prediction
from tieaware.runtime.extras import MissingExtraError
from tieaware.ties import RULES

warnings.simplefilter("error")
warnings.simplefilter("ignore", UserWarning)
# Ignore warnings: pandas, polars and pyarrow warn about some hostile frames, and NumPy while hostile.py makes arrays.
warnings.filterwarnings("ignore", module="hostile|pandas|polars|pyarrow")

FOLDER = tempfile.mkdtemp(prefix="tieaware-fuzz-")
FILES = {
    "qrels": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n",
    "run": "q1 Q0 d1 1 1.5 t\nq1 Q0 d2 2 1.5 t\nq2 Q0 d3 1 0.5 t\n",
}

MEASURES = (
    "AP", "RR@10", "nDCG@10", "P@5", "R@3", "RBP(p=0.5)", "ERR@10", "Bpref", "AUC", "Q", "IPrec@0.5", "Judged@2",
    "NumRet", "infAP", "ESL", "SetF", "GMAP", "Rprec", "nDCG(judged_only=True)",
)  # fmt: skip
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
RUN = {"q1": {"d1": 1.5, "d2": 1.5}, "q2": {"d3": 0.5}}
COUNTS: Counter[str] = Counter()
CALLS: list[Callable[[Draw], Any]] = []


def call(function: Callable[[Draw], Any]) -> Callable[[Draw], Any]:
    """Register a function that makes a call of the public interface."""
    CALLS.append(function)
    return function


def measures(draw: Draw) -> Any:
    return draw.good_or_hostile(lambda: [draw.pick(MEASURES) for _ in range(1 + draw.below(3))])


def common_options(draw: Draw) -> dict[str, Any]:
    """Return some of the options that many functions have in common."""
    return draw.some(
        ties=lambda: draw.pick(list(RULES)),
        precision=lambda: draw.pick(("bands:1.5", "decimals:1", "float16", "levels:3")),
        threads=lambda: 1 + draw.below(3),
    )  # fmt: skip


def depth(draw: Draw) -> Any:
    """Return a number of ranks. Valid numbers above 1000 are replaced, because they would only take long."""
    value = draw.good_or_hostile(lambda: draw.below(200))
    return 7 if isinstance(value, int | float | np.number) and 1000 < value < 2**50 else value


# ---- Calls ---------------------------------------------------------------------------------------


@call
def evaluator(draw: Draw) -> None:
    options = common_options(draw) | draw.some(
        offsets=lambda: [0, 1, 3], group=lambda: [1, 2], qid=lambda: [1, 1, 2],
        judgments=lambda: ([0, 1, 1, 2], [0, 4]), docids=lambda: ["a", "b", "c"], undefined=float("nan"),
    )  # fmt: skip
    labels = draw.good_or_hostile(lambda: draw.pick(([0, 1, 2], [[0, 1, -1]], np.array([0, 1, 0], np.int8))))
    use(draw, Evaluator(labels, measures(draw), **options), (3,))


@call
def catalogue(draw: Draw) -> None:
    relevance = draw.good_or_hostile(lambda: scipy.sparse.csr_array(([1, 2], ([0, 1], [3, 0])), shape=(2, 5)))
    seen = scipy.sparse.csr_array(([1], ([0], [1])), shape=(2, 5))
    options = common_options(draw) | draw.some(exclude=lambda: seen, docids=lambda: list("abcde"))
    use(draw, Evaluator.from_sparse(relevance, measures(draw), **options), (2, 5))


def use(draw: Draw, one: Evaluator, shape: tuple[int, ...]) -> None:
    """Call methods of an evaluator."""
    for _ in range(1 + draw.below(3)):
        scores = draw.good_or_hostile(lambda: np.arange(np.prod(shape)).reshape(shape) % 2 * 0.5)
        rows = one if draw.below(3) else one.rows(number(draw), number(draw))
        kind = draw.below(6)
        if kind == 0:
            out = draw.some(out=lambda: np.empty((one.n_queries, len(one.measures))))
            rows(scores, **out)
        elif kind == 5:
            assert pickle.loads(pickle.dumps(one)).measures == one.measures
        else:
            (rows.mean, rows.spread, rows.many, rows.columns)[kind - 1](scores)


@call
def measure(draw: Draw) -> None:
    kind = draw.below(3)
    if kind == 0:
        parsed = tieaware.parse_measure(text(draw))
    else:
        known = [name for name in tieaware.__all__ if isinstance(getattr(tieaware, name), tieaware.Measure)]
        parsed = getattr(tieaware, draw.pick(known))
        if kind == 1:
            numbers = draw.some(rel=2, p=0.5, max_rel=3, i=2, beta=0.5)
            parsed = parsed(**numbers, **draw.some(dcg="exp-log2", judged_only=True, pool=True))
        parsed = parsed @ draw.good_or_hostile(10)
    assert tieaware.parse_measure(str(parsed)) == parsed, parsed
    assert pickle.loads(pickle.dumps(parsed)) == parsed, parsed


@call
def columns(draw: Draw) -> None:
    kind = draw.pick((Qrels, Run))
    rows = [draw.good_or_hostile(good) for good in (["q1", "q1", "q2"], ["d1", "d2", "d1"], [1, 0, 2])]
    way = draw.below(6)
    if way == 0:
        made = kind.from_columns(*rows)
    elif way == 1:
        made = kind.from_dict(draw.good_or_hostile(QRELS))
    elif way == 2:
        made = kind.from_frame(frame(draw))
    elif way == 3:
        made = kind.from_arrow(frame(draw))
    elif way == 4:
        names = Identifiers.from_sequence(draw.good_or_hostile(lambda: ["d1", "d2", "d3"]))
        made = kind(draw.good_or_hostile(lambda: names), draw.good_or_hostile([0, 1, 2, 3]), names, rows[2])
    else:
        queries, documents = (Identifiers(array(draw), array(draw)) for _ in range(2))
        made = kind(queries, array(draw), documents, array(draw))
    assert len(made.queries.to_list()) == len(made)
    repr(made)


@call
def evaluation(draw: Draw) -> None:
    qrels = draw.good_or_hostile(lambda: draw.pick((QRELS, "qrels", Qrels.from_dict(QRELS), frame(draw))))
    runs = draw.good_or_hostile(lambda: draw.pick((RUN, "run", Run.from_dict(RUN), {"a": RUN, "b": RUN}, frame(draw))))
    options = common_options(draw) | draw.some(spread=True, queries="both")
    results = tieaware.evaluate(qrels, runs, measures(draw), **options)
    for _ in range(draw.below(4)):
        use_results(draw, results)


def use_results(draw: Draw, results: Results) -> None:
    kind = draw.below(10)
    if kind == 0:
        design = draw.some(baseline="a", test="t", correction="none", alpha=0.1, best=False, digits=2, spread="std")
        table = results.table(**design)
        str(table), table.to_latex(), table.to_markdown(), table.to_html()
    elif kind == 1:
        key = draw.good_or_hostile(lambda: draw.pick((*results.runs, ("run", "AP"), ("run", "AP", "q1"))))
        with contextlib.suppress(KeyError, IndexError):
            results[key]
    elif kind == 2:
        Results.concat(draw.good_or_hostile(lambda: [results, results]))
    elif kind == 3:
        results.to_trec_eval(**draw.some(per_query=True, digits=6, header=True))
    elif kind == 4:
        results.save(draw.good_or_hostile("results"))
    elif kind == 5:
        Results.load(draw.good_or_hostile("results"))
    elif kind == 6:
        results.bias(draw.good_or_hostile(lambda: results))
    elif kind == 7:
        results.to_pandas(), results.to_polars(), results.to_arrow(), results.to_dict()
    else:
        results.mean(), results.summary(), str(results.means()), repr(results), results._repr_html_()


@call
def coarsening(draw: Draw) -> None:
    kind = draw.below(5)
    if kind == 0:
        tieaware.bands(draw.good_or_hostile(1.5), depth(draw))
    elif kind == 1:
        made = precision.parse_precision(text(draw))
        assert precision.parse_precision(str(made)) == made
    elif kind == 2:
        one = draw.good_or_hostile(lambda: draw.pick(MEASURES))
        tieaware.worst_case(one, draw.good_or_hostile("1.5"), depth(draw), **draw.some(gain=True))
    else:
        name = draw.pick(("Bands", "Decimals", "Significant", "Levels"))
        made = getattr(precision, name)(draw.good_or_hostile(3))
        assert precision.parse_precision(str(made)) == made
        scores = np.array([draw.pick((0.5, -0.0, 5e-324, 1e308, float("inf"), -1e300)) for _ in range(draw.below(9))])
        coarse = made.coarsen(scores, np.array([0, len(scores)]))
        assert coarse.shape == scores.shape
        assert not np.isnan(coarse).any()


@call
def statistic(draw: Draw) -> None:
    good = ([3.0, 1.0, 2.0], [1.0, 1.0, 2.0], ["a", "b", "c"], [[1.0, 2.0], [2.0, 1.0]])

    def some() -> Any:
        return draw.good_or_hostile(lambda: draw.pick(good))

    kind = draw.below(11)
    if kind == 0:
        statistics.kendall_tau(some(), some(), **draw.some(variant="a"))
    elif kind == 1:
        statistics.kendall_taus(some(), some())
    elif kind == 2:
        statistics.tau_ap(some(), some(), **draw.some(ties="b"))
    elif kind == 3:
        statistics.rbo(some(), some(), **draw.some(p=0.5, ties="b"))
    elif kind == 4:
        statistics.rbo_bounds(some(), some(), **draw.some(p=0.5))
    elif kind == 5:
        statistics.paired_test(some(), some(), **draw.some(method="sign"))
    elif kind == 6:
        statistics.holm(some())
    elif kind == 7:
        statistics.kappa(some(), some(), **draw.some(marginals="separate"))
    elif kind == 8:
        statistics.count_ties(some(), draw.good_or_hostile([0, 1, 3]), **draw.some(cutoffs=lambda: [1, 5]))
    elif kind == 9:
        statistics.smooth(some(), some(), draw.good_or_hostile(0.5))
    else:
        statistics.all_pairs(some())


@call
def links(draw: Draw) -> None:
    positive = draw.good_or_hostile(lambda: [1.0, 2.0])
    negatives = draw.good_or_hostile(lambda: [[1.0, 0.5], [2.0, 3.0]])
    options = draw.some(exclude=lambda: [[True, False], [False, False]], ties="optimistic")
    link_prediction.evaluate(positive, negatives, measures(draw), **options)


@call
def reading(draw: Draw) -> None:
    content = io.BytesIO(draw.text().encode("utf-8", "surrogateescape"))
    path = draw.good_or_hostile(lambda: draw.pick(("qrels", "run", content)))
    if draw.below(2):
        tieaware.read_qrels(path)
    else:
        tieaware.read_run(path, **draw.some(score_dtype="float32", duplicates="first"))


@call
def experiment(draw: Draw) -> None:
    runs = draw.good_or_hostile(lambda: draw.pick((RUN, {"a": RUN, "b": RUN}, "run")))
    experiments.tie_prevalence(runs, **draw.some(qrels=lambda: QRELS))


@call
def command(draw: Draw) -> None:
    """Run a tieaware command. Assert that it exits with 0, or with 2 and a one-line message of printable characters."""
    name = draw.pick(("eval", "trec_eval", "ties", "curve", "worst-case", "eval"))
    files = ["qrels", "run"] if name in ("eval", "trec_eval", "curve") else ["run"] if name == "ties" else []
    words = (
        "-m", "-q", "--ties", "--precision", "--queries", "--format", "--digits", "--spread", "--alpha", "--rel",
        "--rho", "json", "csv", "markdown", "table", *MEASURES,
    )  # fmt: skip
    argv = [name, *files]
    for _ in range(draw.below(5)):
        argv.append(draw.pick(words) if draw.below(3) else str(text(draw)))
    if name == "worst-case":
        argv += ["--depth", "50"]
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(argv)
        except SystemExit as end:
            status = end.code
    printed = err.getvalue()
    assert status in (0, 2), (argv, status, printed)
    assert status == 0 or printed.count("\n") == 1, (argv, status, printed)
    assert all(each.isprintable() or each == "\n" for each in printed), (argv, printed)


@call
def real_and_missing_labels(draw: Draw) -> None:
    labels = draw.good_or_hostile(lambda: draw.pick(([0.5, 1.25, float("nan")], [[0, 0.7, -1]], [float("nan")] * 3)))
    options = draw.some(missing="unjudged", offsets=lambda: [0, 1, 3], judgments=lambda: ([0.5, float("nan")], [0, 2]))
    use(draw, Evaluator(labels, measures(draw), **common_options(draw), **options), (3,))


@call
def subtopics(draw: Draw) -> None:
    labels = draw.good_or_hostile(lambda: draw.pick(([[0, 1], [1, 0], [2, 2]], [[0.5, -1.0], [0.0, 1.0], [1.0, 1.0]])))
    names = draw.good_or_hostile(lambda: [draw.pick(("alpha_nDCG@5", "ERR_IA", "NRBP", "AP_IA", "StRecall", "nDCG"))])
    options = draw.some(intents=lambda: [[0.25, 0.75]], missing="unjudged", docids=lambda: ["a", "b", "c"])
    use(draw, Evaluator(labels, names, subtopics=True, **common_options(draw), **options), (3,))


@call
def line(draw: Draw) -> None:
    one = Evaluator([0, 1, 2, 0], measures(draw), offsets=[0, 2, 4], **common_options(draw))
    ends = [draw.good_or_hostile(good) for good in ([1.0, 2.0, 3.0, 3.0], [0.5, -1.0, 0.0, 2.0])]
    made = (one.along if draw.below(2) else one.between)(*ends)
    repr(made), made.best()


@call
def exposures(draw: Draw) -> None:
    scores = draw.good_or_hostile(lambda: [1.0, 1.0, 0.5])
    options = common_options(draw) | draw.some(
        offsets=lambda: [0, 1, 3], weights=lambda: draw.pick(("DCG", "RBP", "RR", "P@2")), docids=lambda: list("abc"),
    )  # fmt: skip
    if draw.below(2):
        tieaware.exposure(scores, **options)
    else:
        labels = draw.good_or_hostile(lambda: [0, 1, 2])
        more = draw.some(groups=lambda: ["x", "y", "x"], amortised=True, judgments=lambda: ([1, 2], [0, 1, 2]))
        fairness.expected_exposure(scores, labels, **options, **more)


@call
def chance(draw: Draw) -> None:
    if draw.below(2):
        one = Evaluator(draw.good_or_hostile(lambda: [0, 1, 2]), measures(draw), **common_options(draw))
        one.chance()
    else:
        results = tieaware.evaluate(QRELS, draw.good_or_hostile(lambda: RUN), measures(draw), chance=True)
        results.adjusted(), results.z(), results.adjusted_mean(), results.mean_z()


@call
def certainty(draw: Draw) -> None:
    values = draw.good_or_hostile(lambda: [[0.1, 0.5, 0.3], [0.2, 0.2, 0.9]])
    options = draw.some(level=0.9, seed=1) | {"resamples": 50}
    kind = draw.below(5)
    if kind == 0:
        statistics.mean_interval(values, draw.pick(("t", "percentile", "bca", "bootstrap-t")), **options)
    elif kind == 1:
        statistics.ratio_interval(values, draw.good_or_hostile(lambda: [[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), **options)
    elif kind == 2:
        statistics.rank_intervals(values, **options)
    elif kind == 3:
        separated = draw.good_or_hostile(lambda: [[False, True], [True, False]])
        statistics.groups(separated, draw.good_or_hostile([0.5, 0.7]))
    else:
        runs = {"a": RUN, "b": {"q1": {"d2": 1.0}}}
        results = tieaware.evaluate(QRELS, runs, measures(draw))
        results.intervals(**options, **draw.some(baseline="a", ratio=True, method="bca"))
        results.ranks(**options)


@call
def uncertain(draw: Draw) -> None:
    scores = draw.good_or_hostile(lambda: [2.0, 1.0, 1.0])
    probabilities = draw.good_or_hostile(lambda: [[0.5, 0.5], [0.0, 1.0], [0.2, 0.8]])
    options = draw.some(offsets=lambda: [0, 1, 3], grades=lambda: [0, 1], unretrieved=lambda: ([[0.5, 0.5]], [0, 1]))
    statistics.with_uncertain_labels(scores, probabilities, measures(draw), samples=20, **options)


@call
def fusion(draw: Draw) -> None:
    runs = draw.good_or_hostile(lambda: {"a": RUN, "b": {"q1": {"d2": 1.0, "d1": 0.5}}})
    options = common_options(draw) | draw.some(normalise="rank", missing="zero")
    one = optimise.WeightedFusion(QRELS, runs, measures(draw), **options)
    one.scores(draw.good_or_hostile(lambda: [0.5, 0.5]))


# ---- The target ----------------------------------------------------------------------------------


@cache
def enter_folder() -> None:
    """Change to a folder with a few input files.

    This happens at the first input, not at import: until then, libFuzzer may start itself again by a relative path.
    """
    os.chdir(FOLDER)
    for name, content in FILES.items():
        with open(name, "w") as file:
            file.write(content)


def one_input(content: bytes) -> None:
    """Make one call, and catch the exceptions that it may raise. Any other exception is a failure."""
    enter_folder()
    draw = Draw(content)
    COUNTS["calls"] += 1
    function = draw.pick(CALLS)
    try:
        function(draw)
        COUNTS["values"] += 1
    except (InputError, MissingExtraError) as error:
        COUNTS["refused"] += 1
        assert str(error).isprintable(), repr(str(error))
    except (Own, MemoryError):
        COUNTS["passed on"] += 1
    except TypeError as error:
        # Python itself raises TypeError for wrong names or numbers of arguments, and for operations on types that the
        # annotations rule out.
        COUNTS["type errors"] += 1
        assert "\n" not in str(error), error


def check(draw: random.Random, folder: str) -> Counter[str]:
    """Make one call from random bytes, for searches without libFuzzer."""
    COUNTS.clear()
    one_input(draw.randbytes(draw.randrange(256)))
    return COUNTS


def tally() -> None:
    """Print the counts of the calls, and remove the folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    print(json.dumps({"target": "interface", **COUNTS}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    status = search("interface", check, __doc__.splitlines()[0])
    shutil.rmtree(FOLDER, ignore_errors=True)
    sys.exit(status)
