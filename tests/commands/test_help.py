"""Help texts: every command and option has one, and the names listed in them are those that the library knows."""

import argparse
import re

import pytest

from tieaware import cli, retrieval
from tieaware.defaults import INEXACT_METHODS
from tieaware.experiments._curves import KINDS
from tieaware.measures import DEFINITIONS
from tieaware.measures.worst_cases import measures_with_worst_cases
from tieaware.precision.coarsening import parse_precision, precisions
from tieaware.results.exports import FORMATS
from tieaware.results.paper_table import BESIDE
from tieaware.statistics.procedures import CORRECTIONS, TESTS
from tieaware.ties import RULES


def parsers():
    (commands,) = (a for a in cli._parser()._actions if isinstance(a, argparse._SubParsersAction))
    return commands.choices


PARSERS = parsers()


def action(command, option):
    return PARSERS[command]._option_string_actions[option]


def listed(text):
    """Return the names in a list such as "a, b or c"."""
    return re.split(r", | or ", text)


@pytest.mark.parametrize("command", PARSERS)
def test_every_command_and_option_has_a_help_text(command):
    assert PARSERS[command].description
    assert PARSERS[command].description.endswith(".")
    for each in PARSERS[command]._actions:
        assert each.help, each.dest


@pytest.mark.parametrize("command", ["eval", "curve", "trec_eval"])
def test_the_help_lists_every_tie_rule(command):
    rules = action(command, "--ties").help.removeprefix("how to order tied documents: ").partition(" (")[0]
    assert listed(rules) == list(action(command, "--ties").choices) == list(RULES)


def test_the_help_lists_every_measure():
    epilog = PARSERS["eval"].epilog
    assert listed(epilog.removeprefix("Measures: ").partition(". ")[0]) == list(DEFINITIONS)
    assert PARSERS["worst-case"].epilog == f"Measures: {', '.join(measures_with_worst_cases())}."


@pytest.mark.parametrize("command", ["eval", "precision"])
def test_the_help_lists_every_precision(command):
    text = action("eval", "--precision").help if command == "eval" else PARSERS["precision"].epilog
    notations = listed(text.partition(": ")[2].rstrip("."))
    assert [each.partition(":")[0] for each in notations] == [each.names[0] for each in precisions()]
    for notation in notations:
        parse_precision(re.sub(":[A-Z]+", ":2", notation).replace(" P", " levels:2"))


@pytest.mark.parametrize(("option", "registry"), [("--test", TESTS), ("--correction", CORRECTIONS)])
@pytest.mark.parametrize("command", ["eval", "compare"])
def test_the_help_lists_every_test_and_correction(command, option, registry):
    """A table can also be made without a test."""
    more = ["none"] if (command, option) == ("eval", "--test") else []
    assert listed(re.search(r": (.*) \(default", action(command, option).help)[1]) == [*registry, *more]


@pytest.mark.parametrize(
    ("command", "option", "registry"),
    [
        ("eval", "--format", FORMATS),
        ("eval", "--beside", BESIDE),
        ("curve", "--kind", KINDS),
        *((name, "--collection-format", retrieval.collections.FORMATS) for name in ("inexact", "index", "search")),
        *((name, "--topic-part", retrieval.topics.PARTS) for name in ("inexact", "search")),
    ],
)
def test_the_choices_are_those_of_the_library(command, option, registry):
    assert list(action(command, option).choices) == list(registry)


def test_the_default_methods_of_retrieval_are_methods():
    assert [str(retrieval.parse_method(method)) for method in INEXACT_METHODS]
