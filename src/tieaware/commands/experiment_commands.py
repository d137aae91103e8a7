"""The commands of experiments without a module of their own."""

from __future__ import annotations

import argparse

from tieaware.checks.arguments import one_of
from tieaware.commands import options
from tieaware.defaults import (
    COMPARISON_MEASURES,
    OVERHEAD_MEASURES,
    PRECISION_MEASURES,
    RHOS,
    SCALE_MEASURE,
    TIE_CUTOFFS,
    TIE_MEASURES,
)
from tieaware.errors import InputError
from tieaware.precision.coarsening import notations


def add_ties(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware ties`."""
    command = commands.add_parser(
        "ties",
        help="count ties, and show their effect on the measures",
        description="Count the ties in runs. With judgments, also evaluate the runs under every tie rule.",
    )
    options.add(command, *options.RUNS)
    command.add_argument(
        "--qrels", metavar="QRELS", help="file of judgments, to evaluate the runs under every tie rule"
    )
    options.add_measures(command, TIE_MEASURES)
    command.add_argument(
        "-k", "--cutoff", action="append", type=options.whole, metavar="K",
        help="count the ties within the first K ranks, and across rank K; repeatable "
        f"(default: {', '.join(map(str, TIE_CUTOFFS))})",
    )  # fmt: skip
    options.add(command, options.CONSISTENT_ONLY, options.THREADS)
    options.add_output(command)
    command.set_defaults(run=_ties)


def _ties(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import tie_prevalence

    runs = options.run_files(arguments, *([arguments.qrels] if arguments.qrels else []))
    outcome = tie_prevalence(
        runs, arguments.qrels, arguments.measure or TIE_MEASURES, arguments.cutoff or TIE_CUTOFFS,
        consistent_only=arguments.consistent_only, threads=arguments.threads,
    )  # fmt: skip
    return options.output(outcome, arguments, *(name for name in outcome.answers if name != "cutoffs"))


def add_precision(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware precision`."""
    command = commands.add_parser(
        "precision",
        help="find out how precise scores need to be before values and verdicts change",
        description="Reduce the precision of the runs' scores, and compare values, verdicts and orderings of runs "
        "with those of the original scores. The output begins with the coarsest precision that is safe. Without --rho, "
        f"--precision and --find, bands of ranks that grow by {RHOS[0]} to {RHOS[-1]} are tried.",
        epilog=f"Precisions: {notations()}.",
    )
    options.add(command, options.QRELS, *options.RUNS)
    options.add_measures(command, PRECISION_MEASURES)
    command.add_argument(
        "--rho", action="append", default=[], metavar="R", help="bands of ranks that grow by the factor R; repeatable"
    )
    command.add_argument(
        "--precision", action="append", default=[], metavar="P",
        help="precision of scores, such as bfloat16; repeatable",
    )  # fmt: skip
    command.add_argument(
        "--error", type=_error, metavar="E",
        help="instead of reducing the precision, find the differences that survive if each score may be wrong by E, or "
        "by a share of itself, such as 1%%",
    )  # fmt: skip
    command.add_argument(
        "--scale", action="append", type=options.whole, metavar="N",
        help="instead, divide the scores into N levels that all queries share, as a grader does; repeatable",
    )  # fmt: skip
    command.add_argument(
        "--alpha", type=options.real, default=0.05, metavar="A", help="significance level of the tests (%(default)s)"
    )
    command.add_argument(
        "--find", metavar="FAMILY",
        help="search a family of precisions for the coarsest that is safe: bands, decimals, significant, levels or "
        "floats",
    )  # fmt: skip
    command.add_argument(
        "--keep", metavar="WHAT",
        help="what has to stay for a precision to be safe: verdicts (on pairs of runs), order (of the runs), or a "
        "share of the mean of each run, such as 99%% (default: verdicts, or 99%% of one run)",
    )  # fmt: skip
    options.add_baseline(command, "all with each other")
    options.add_correction(command, "none", " between runs, by one measure with one precision")
    options.add(command, options.CONSISTENT_ONLY, options.THREADS)
    options.add_output(command)
    command.set_defaults(run=_precision)


def _precision(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import precision
    from tieaware.precision import Bands
    from tieaware.precision.ladders import FAMILIES
    from tieaware.statistics.procedures import checked

    # The names are checked before any file is read.
    checked("t", arguments.correction)
    if arguments.error is not None:
        return _bounds(arguments)
    if arguments.scale:
        return _scales(arguments)
    chosen = [*(Bands(rho) for rho in arguments.rho), *arguments.precision]
    if arguments.find is not None:
        one_of("find", arguments.find, FAMILIES)
        if chosen:
            raise InputError("", "--find tries precisions of its own; leave out --rho and --precision", argument="find")
    runs = options.run_files(arguments, arguments.qrels)
    outcome = precision(
        arguments.qrels, runs, arguments.find or chosen or [Bands(rho) for rho in RHOS],
        arguments.measure or PRECISION_MEASURES,
        alpha=arguments.alpha, keep=arguments.keep or ("verdicts" if len(runs) > 1 else "99%"),
        threads=arguments.threads, baseline=arguments.baseline, consistent_only=arguments.consistent_only,
        correction="none" if arguments.correction is None else arguments.correction,
    )  # fmt: skip
    return options.output(outcome if arguments.find is None else outcome.coarsest(), arguments)


def _error(text: str) -> tuple[float, bool]:
    """Convert the text of an error, a number or a percentage; return also whether it is a percentage."""
    relative = text.endswith("%")
    return options.real(text.removesuffix("%")) / (100.0 if relative else 1.0), relative


def _check_alone(arguments: argparse.Namespace, option: str, others: tuple[str, ...]) -> None:
    """Raise InputError if an option, which replaces the coarser scores, is combined with an option of these."""
    for name in others:
        if getattr(arguments, name) != arguments.parser.get_default(name):
            raise InputError("", f"--{name} cannot be combined with {option}", argument=name)


def _bounds(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import bounds

    _check_alone(arguments, "--error", ("rho", "precision", "find", "keep", "scale"))
    error, relative = arguments.error
    outcome = bounds(
        arguments.qrels, options.run_files(arguments, arguments.qrels), error,
        arguments.measure or PRECISION_MEASURES, relative=relative, alpha=arguments.alpha, threads=arguments.threads,
        baseline=arguments.baseline, consistent_only=arguments.consistent_only,
        correction="none" if arguments.correction is None else arguments.correction,
    )  # fmt: skip
    return options.output(outcome, arguments)


def _scales(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import scales

    _check_alone(arguments, "--scale", ("rho", "precision", "find", "keep", "alpha", "baseline", "correction"))
    outcome = scales(
        arguments.qrels, options.run_files(arguments, arguments.qrels), arguments.scale,
        options.one_measure(arguments, (SCALE_MEASURE,), "by which scales are chosen"),
        consistent_only=arguments.consistent_only, threads=arguments.threads,
    )  # fmt: skip
    return options.output(outcome, arguments)


def add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware compare`."""
    command = commands.add_parser(
        "compare",
        help="compare all pairs of runs, or each run with a baseline, and find the verdicts that ties can change",
        description="Test the differences between all pairs of runs, or between each run and a baseline, and find out "
        "whether any order of the tied documents changes the sign of a difference or its verdict. Text output lists "
        "all runs with those that they beat; CSV and JSON output have one row for each pair.",
    )
    options.add(command, *options.VALUES)
    options.add_measures(command, COMPARISON_MEASURES)
    options.add_procedure(command, "all with each other", "t, wilcoxon, sign, permutation, tukey or randomised-tukey")
    command.add_argument(
        "--keep", metavar="S",
        help="with --baseline, say which runs keep this share of its mean, such as 99%%, which lose more, and which "
        "are open",
    )  # fmt: skip
    command.add_argument(
        "--tolerance", type=options.real, metavar="T",
        help="the same for all of its mean up to this loss, such as 0.01",
    )  # fmt: skip
    command.add_argument(
        "--plan", type=options.real, metavar="D", help="say how many queries would show a difference of D"
    )
    command.add_argument(
        "--alpha", type=options.real, default=0.05, metavar="A", help="significance level of the tests (%(default)s)"
    )
    command.add_argument(
        "--confidence", type=options.real, default=0.95, metavar="C",
        help="confidence level of the intervals of the differences, each for its pair alone, without the correction; "
        "with tukey, simultaneous for all runs (%(default)s)",
    )  # fmt: skip
    options.add(command, options.CONSISTENT_ONLY, options.THREADS)
    options.add_output(command)
    command.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import compare, comparison
    from tieaware.statistics.procedures import checked

    # The names are checked before any file is read.
    procedure = checked("t" if arguments.test is None else arguments.test, arguments.correction)
    names = ("alpha", "confidence", "baseline", "keep", "tolerance", "plan")
    design = procedure._asdict() | {name: getattr(arguments, name) for name in names}
    if arguments.matrix is not None:
        measure = options.one_measure(arguments, COMPARISON_MEASURES, "the one in --matrix")
        outcome = compare(options.read_values(arguments, measure), **design)
    elif (stored := options.stored_results(arguments)) is not None:
        outcome = compare(stored, **design)
    else:
        runs = options.run_files(arguments, arguments.qrels)
        measures = arguments.measure or COMPARISON_MEASURES
        reading = {"threads": arguments.threads, "consistent_only": arguments.consistent_only}
        outcome = comparison(arguments.qrels, runs, measures, **reading, **design)
    # With a margin, the decisions are in the table of the runs.
    return options.output(outcome, arguments, *([] if outcome.margin is None else ["wins"]))


def add_curve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware curve`."""
    command = commands.add_parser(
        "curve",
        help="draw precision–recall and ROC curves",
        description="Compute precision–recall or ROC curves for each query and on average. With --ties average, a "
        "curve is the expectation over all orders of tied documents.",
    )
    options.add(command, options.QRELS, *options.RUNS)
    command.add_argument(
        "--kind", choices=("precision-recall", "interpolated", "roc"), default="precision-recall",
        help="type of the curves (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--collection-size", type=options.whole, metavar="N",
        help="number of documents in the collection: ROC curves then show shares of all documents, not of the "
        "retrieved ones",
    )  # fmt: skip
    options.add_ties(command)
    command.add_argument(
        "--rel", type=options.label, default=1, metavar="N", help="smallest relevant label (%(default)s)"
    )
    options.add(command, options.CONSISTENT_ONLY, options.THREADS)
    options.add_output(command)
    command.set_defaults(run=_curve)


def _curve(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import curves

    outcome = curves(
        arguments.qrels, options.run_files(arguments, arguments.qrels), arguments.kind,
        ties=arguments.ties, rel=arguments.rel, threads=arguments.threads,
        collection_size=arguments.collection_size, consistent_only=arguments.consistent_only,
    )  # fmt: skip
    return options.output(outcome, arguments)


def add_overhead(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tieaware overhead`."""
    command = commands.add_parser(
        "overhead",
        help="compare the speed of exact averages with kernels that ignore ties",
        description="Measure how long exact averages over ties take, compared with kernels that ignore ties and with "
        "the reference in plain Python, on generated lists: long ones with discrete scores, and dense ones, as in "
        "learning to rank. With --run and --qrels, the lists of a run are measured instead, against the kernels that "
        "ignore ties. All figures are ratios of times.",
    )
    options.add_measures(command, OVERHEAD_MEASURES)
    command.add_argument(
        "--queries", type=options.whole, metavar="N",
        help="number of lists to generate; at most 500 dense ones of each kind (default: 2000)",
    )  # fmt: skip
    command.add_argument(
        "--seed", type=options.whole, metavar="N", help="random seed of the generated lists (default: 2008)"
    )
    command.add_argument(
        "--run", dest="runs", nargs=1, metavar="FILE", help="run to measure instead of generated lists; needs --qrels"
    )
    command.add_argument("--qrels", metavar="FILE", help="judgments of the run; needs --run")
    options.add(command, *options.READING)
    options.add_output(command)
    command.set_defaults(run=_overhead, name=None)


def _overhead(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import overhead

    given = {"n_queries": arguments.queries, "seed": arguments.seed}
    given = {name: value for name, value in given.items() if value is not None}
    if arguments.runs and given:
        raise InputError(next(iter(given)), "is for generated lists; leave it out, or leave out the run")
    run = options.run_files(arguments, *filter(None, [arguments.qrels])) if arguments.runs else None
    outcome = overhead(arguments.measure or OVERHEAD_MEASURES, qrels=arguments.qrels, run=run, **given)
    return options.output(outcome, arguments)
