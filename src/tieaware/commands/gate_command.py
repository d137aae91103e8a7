"""The command ``tieaware gate``: whether a run is worse than a base, as an exit status for continuous integration."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from tieaware.commands import options, streams
from tieaware.defaults import GATE_MEASURES
from tieaware.errors import InputError, printable
from tieaware.output.tables import counted
from tieaware.runtime.atomic_files import whole_file

if TYPE_CHECKING:
    from tieaware.experiments._gate import Gate

# The exit status of a run that is worse, and with --strict of one with too few queries to tell.
_WORSE, _OPEN = 1, 3


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "gate",
        help="decide whether a run is worse than a base, with an exit status",
        description="Decide whether a run is worse than a base by more than a tolerance. Several RUNs are repetitions "
        "of one system, whose differences are part of the error.",
        epilog="A run is worse if its mean fell by more than the tolerance, and a paired t-test rejects that nothing "
        "changed. Exit status: 0 if the run is better or has kept its quality, 1 if it is worse, 2 after an error. If "
        "the queries are too few to tell, it is 0, or with --strict 3.",
    )
    options.add(command, options.QRELS, *options.RUNS)
    command.add_argument(
        "--against", metavar="BASE", action="append",
        help="run to compare with, or a .npz file that --save or eval --out wrote; repeat it for repetitions. Not "
        "needed to save the first base",
    )  # fmt: skip
    options.add_measures(command, (f"those of a saved base, otherwise {', '.join(GATE_MEASURES)}",))
    command.add_argument(
        "--tolerance", type=_tolerance, default=0.01, metavar="T",
        help="loss of the mean that does not matter, in the unit of the measure (%(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--alpha", type=options.real, default=0.05, metavar="A", help="significance level of the test (%(default)s)"
    )
    command.add_argument(
        "--allow-missing", action="store_true", help="let a side lack queries that the other answers, and count them 0"
    )
    command.add_argument("--strict", action="store_true", help="exit with status 3 if the queries are too few to tell")
    for option, what in (("--markdown", "Markdown, for a comment on a pull request"), ("--json", "JSON")):
        command.add_argument(option, metavar="FILE", type=options.local_file, help=f"write the verdict as {what}")
    command.add_argument(
        "--save", metavar="FILE", type=_npz,
        help="unless the run is worse, save it as the base of later gates, in a .npz file",
    )  # fmt: skip
    options.add(command, options.THREADS, options.renamed("--base", "--against BASE"))
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware.experiments import gate

    is_first = arguments.against is None
    if is_first:
        if arguments.save is None:
            raise InputError("against", "is required, except to save the first base: --save BASE.npz")
        if os.path.exists(arguments.save):
            remedy = f"compare with it (--against {arguments.save}), or remove it to begin with a new base"
            raise InputError(arguments.save, f"holds a base already; {remedy}")
        arguments.against = arguments.runs
    # An error must not leave the verdict of an earlier run behind.
    for path in (arguments.markdown, arguments.json):
        if path is not None and os.path.isfile(path):
            os.unlink(path)
    base, runs = _sides(arguments)
    outcome = gate(
        arguments.qrels, runs, base, arguments.measure, tolerance=arguments.tolerance, alpha=arguments.alpha,
        allow_missing=arguments.allow_missing, threads=arguments.threads,
    )  # fmt: skip
    for path, text in ((arguments.markdown, outcome.to_markdown), (arguments.json, outcome.to_json)):
        if path is not None:
            with whole_file(path) as file:
                file.write(text().encode("utf-8", "surrogateescape"))
    if not outcome.passed:
        arguments.status = _WORSE
    elif arguments.strict and outcome.decision == "cannot tell":
        arguments.status = _OPEN
    if arguments.save is not None and (refusal := outcome.refusal()):
        streams.say(f"not saved: {refusal}")
    elif arguments.save is not None:
        outcome.save(arguments.save)
        streams.say(f"wrote {arguments.save}")
    if is_first:
        return _first_base(outcome)
    # The verdict stands in one line, which logs and scripts can find.
    details = outcome.details()
    if outcome.decision == "cannot tell":
        passes = "The build fails, because of --strict." if arguments.strict else "The build passes; --strict fails it."
        details.insert(0, passes)
    texts = [printable(outcome.sentence), options.wrapped(" ".join(details)), ""]
    tables = outcome.tables()
    return "\n".join([*filter(None, texts), "", *(options.format_table(tables[name]) for name in outcome.answers)])


def _first_base(outcome: Gate) -> str:
    """Return the means of a base that was compared with nothing."""
    side = outcome.after
    means = ", ".join(f"{each.name} {each.means[1]:.3f}" for each in outcome.judged)
    runs = f" of {len(side.results.runs)} repetitions" if len(side.results.runs) > 1 else ""
    n, silent = counted(len(side.results.queries), "query", "queries"), len(side.unanswered)
    missing = f", {silent:,} without documents" if silent else ""
    return f"The first base holds {means}{runs} ({n}{missing}).\n"


def _sides(arguments: argparse.Namespace) -> list[Any]:
    """Return the base and the runs: each the path of a file of values, or runs to read."""
    options.check_one_stdin(arguments.qrels, *arguments.against, *arguments.runs)
    sides: list[Any] = []
    for name, paths in (("against", arguments.against), ("runs", arguments.runs)):
        stored = [path for path in paths if path.endswith(".npz")]
        if stored and len(paths) > 1:
            raise InputError(name, f"{stored[0]} holds a whole side, so it must be the only one")
        if stored and not os.path.exists(stored[0]):
            raise InputError(stored[0], "there is no such file; without --against, --save writes a first base")
        of_side = {**vars(arguments), "runs": paths, "name": arguments.name if name == "runs" else None}
        try:
            sides.append(stored[0] if stored else options.run_files(argparse.Namespace(**of_side)))
        except InputError as error:
            raise InputError(name, error.problem) if error.where == "runs" else error from None
    if all(isinstance(side, str) for side in sides):
        options.refuse_options(arguments, *options.OF_READING)
    return sides


def _tolerance(text: str) -> float:
    if text.endswith("%"):
        raise argparse.ArgumentTypeError(f"expected a number in the unit of the measure, such as 0.01, found {text!r}")
    return options.real(text)


def _npz(text: str) -> str:
    if not text.endswith(".npz"):
        raise argparse.ArgumentTypeError(f"expected a file name that ends in .npz, found {text!r}")
    return options.local_file(text)
