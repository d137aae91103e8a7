"""``tieaware demo``: the embedded sample."""

from __future__ import annotations

import argparse

from tieaware.commands import streams


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser("demo", help="evaluate the embedded sample, to see why ties matter")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from tieaware.demo import demo

    width = streams.width()
    return demo() if width is None else demo(max(width, 80))
