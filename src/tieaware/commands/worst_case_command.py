"""The command ``tieaware worst-case``: exact bounds of the effect of banding."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tieaware.checks.arguments import flag, sequence
from tieaware.commands import options
from tieaware.defaults import RHOS, WORST_CASE_MEASURES
from tieaware.measures import Measure, parse_measures
from tieaware.measures.worst_cases import measures_with_worst_cases, worst_case
from tieaware.output.tables import FORMATS, Cell, Table, significant

if TYPE_CHECKING:
    from fractions import Fraction


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "worst-case",
        help="compute how far bands of ranks can move a measure",
        description="Compute exactly how far averaging over bands of ranks can move a measure, for any ranking.",
        epilog=f"Measures: {', '.join(measures_with_worst_cases())}.",
    )
    options.add_measures(command, WORST_CASE_MEASURES)
    command.add_argument(
        "--rho", action="append", metavar="R",
        help=f"factor by which the bands grow; repeatable (default: {RHOS[1]} … {RHOS[-1]})",
    )  # fmt: skip
    command.add_argument("--depth", type=options.whole, default=1000, metavar="N", help="number of ranks (%(default)s)")
    command.add_argument("--gain", action="store_true", help="print the largest gains as well as the largest losses")
    command.add_argument("--format", choices=FORMATS, default="text", help="output format (%(default)s)")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    rhos = arguments.rho or RHOS[1:]
    losses = table(arguments.measure or WORST_CASE_MEASURES, rhos, arguments.depth, gain=arguments.gain)
    if arguments.format == "json":
        return options.in_json("worst-case", _sentence(losses), losses.title, {"losses": losses})
    text = options.format_table(losses, arguments.format)
    return text if arguments.format == "csv" else f"{options.wrapped(_sentence(losses))}\n\n{text}"


def _sentence(losses: Table) -> str:
    """Say how much a ranking can lose by the first and by the last bands, and by which measure."""
    names = [name for name in losses.columns[1:] if not name.endswith(" gain")]
    most = {rho: max((losses[rho, name], name) for name in names) for rho in losses["rho"]}
    ends = [f"{significant(loss)} ({name}) by bands that grow by {rho}" for rho, (loss, name) in most.items()]
    return f"No ranking loses more than {', or '.join(ends[:: max(len(ends) - 1, 1)])}."


def table(
    measures: Sequence[str | Measure], rhos: Sequence[str | float | Fraction], depth: int = 1000, *, gain: bool = False
) -> Table:
    """Return a table of worst cases, with a row for each rho and a column for the loss of each measure.

    Parameters and errors as for `worst_case`, for several measures and several rhos. With `gain`, each measure has a
    second column, for its largest gain.

    Examples
    --------
    >>> print(table(["RR", "P@10"], ["1.5", 2], depth=100))
    Largest loss by banding, depth 100
    <BLANKLINE>
    rho      RR    P@10
    1.5  0.0417  0.0750
    2    0.0833  0.1875
    """
    parsed = parse_measures(measures)
    rhos, gain = sequence("rhos", rhos, "numbers"), flag("gain", gain)
    columns = [(measure, which) for measure in parsed for which in ((False, True) if gain else (False,))]
    names = (f"{measure} gain" if which else f"{measure}" for measure, which in columns)
    rows: list[tuple[Cell, ...]] = [
        (str(rho), *(worst_case(measure, rho, depth, which).value for measure, which in columns)) for rho in rhos
    ]
    title = f"Largest loss{' and gain' if gain else ''} by banding, depth {depth}"
    return Table(title, ("rho", *names), rows)
