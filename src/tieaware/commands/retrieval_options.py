"""Options of the commands that index and search texts, and the functions that apply them.

They import `tieaware.retrieval` only when they run: its import would slow down the start of every command.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from tieaware.checks.arguments import shown, unexpected
from tieaware.commands import options
from tieaware.commands.options import Option
from tieaware.errors import InputError
from tieaware.inputs.files.paths import source_name
from tieaware.runtime.progress import stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tieaware.retrieval import Index, Method, Query
    from tieaware.retrieval.collections import Format
    from tieaware.retrieval.topics import Part

# The file formats and the parts of topics of tieaware.retrieval, repeated here because of its import.
FORMATS: tuple[Format, ...] = ("trec", "jsonl", "tsv", "smart", "cranfield", "npl", "cacm")
PARTS: tuple[Part, ...] = ("title", "description", "narrative")

# The lists of stop words that have names.
STOP_WORDS = ("lucene", "scikit-learn", "none")
_STEMMER, _STOP_WORDS = "english", "lucene"


def check_output(argument: str, path: str, *inputs: str | None) -> None:
    """Raise InputError before the work begins if the file of an option cannot be written, or is one of the inputs."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise InputError(source_name(path), "this is a folder; the name of a file is required")
    if not os.path.isdir(folder):
        raise InputError(source_name(path), "the folder of this file does not exist")
    for given in filter(None, inputs):
        if os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given):
            raise InputError(argument, f"would replace the input {given}")


def add_format(command: argparse.ArgumentParser, what: str) -> None:
    """Add the option for the format of the files that `what` names."""
    command.add_argument(
        "--collection-format", choices=FORMATS, metavar="F",
        help=f"format of {what}: {', '.join(FORMATS)} (default: recognised from their content)",
    )  # fmt: skip


class _ListMethods(argparse.Action):
    """Print all methods and weightings, and exit, as ``--help`` does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        parser._print_message(method_list(), sys.stdout)
        parser.exit()


# The options for building an index from documents. They default to None, so that an index can refuse them.
BUILDING = (
    Option("--stemmer", metavar="S", help=f"name of a PyStemmer stemmer, or none (default: {_STEMMER})"),
    Option(
        "--stop-words", metavar="LIST",
        help=f"words to leave out: {', '.join(STOP_WORDS)}, or a file of words (default: {_STOP_WORDS})",
    ),
    Option(
        "--quality", metavar="FILE",
        help="file with the static quality of each document: an id and a number of at least 0 on each line",
    ),
)  # fmt: skip
# The options for topics and their queries.
TOPICS = (
    Option(
        "--topic-part", choices=PARTS, action="append", metavar="PART", dest="parts",
        help=f"part of each topic to use as query: {', '.join(PARTS)}; repeatable (default: title)",
    ),
    Option(
        "--filters", action="store_true",
        help='find only documents that contain the phrases in "double quotes", and match AND, OR, NOT and parentheses',
    ),
)  # fmt: skip
# The options for the weights of terms, the number of documents to find, and the list of methods.
SEARCH = (
    Option(
        "--weighting", default="lnc.ltc", metavar="W",
        help="weights of terms, such as bm25; the end of this help lists all (%(default)s)",
    ),
    Option("-k", type=options.whole, default=1000, help="number of documents to find (%(default)s)"),
    Option(
        "--list-methods", action=_ListMethods, nargs=0, help="list all search methods with their parameters, and exit"
    ),
)  # fmt: skip


def method_list() -> str:
    """Return the names of all methods with their parameters and what they do, and the weightings."""
    from tieaware.retrieval.weighting import EXPECTED

    lines = []
    for method in _sorted_methods():
        summary = (inspect.getdoc(method) or "").partition("\n\n")[0]
        lines.append(f"{_signature(method)}\n    {' '.join(summary.replace('`', '').split())}\n")
    return "".join(lines) + f"\nEach method also takes weighting=, for example weighting='bm25': {EXPECTED}.\n"


def method_epilog() -> str:
    """Return the end of a command's help: the methods with their parameters, and the weightings."""
    from tieaware.retrieval.weighting import EXPECTED

    return f"Methods: {', '.join(map(_signature, _sorted_methods()))}. Weightings: {EXPECTED}."


def method_names() -> list[str]:
    """Return the names of all methods."""
    return [method.__name__ for method in _sorted_methods()]


def _sorted_methods() -> list[type[Method]]:
    from tieaware.retrieval.method import known_methods

    return [method for _, method in sorted(known_methods().items())]


def _signature(method: type[Method]) -> str:
    """Return a method's name with its own parameters and their defaults, such as "Champions(r=100)"."""
    parameters = inspect.signature(method).parameters.values()
    own = [f"{each.name}={each.default!r}" for each in parameters if each.name != "weighting"]
    return f"{method.__name__}({', '.join(own)})"


def methods(texts: Sequence[str], arguments: argparse.Namespace) -> list[Method]:
    """Return the methods with some names, with the weighting of the command where the name does not give one."""
    from tieaware.retrieval import parse_method

    return [parse_method(text, weighting=arguments.weighting) for text in texts]


def topics_at(path: str, arguments: argparse.Namespace, index: Index) -> dict[str, str]:
    """Read the topics of an index as queries; raise InputError if there are none."""
    from tieaware.retrieval import read_topics

    parts: Sequence[Part] = arguments.parts or ("title",)
    topics = read_topics(path, arguments.collection_format, parts=parts, of_documents=index.format)
    if not topics:
        raise InputError(source_name(path), "the file has no topics")
    return topics


def parsed(index: Index, queries: Mapping[str, str], source: str) -> dict[str, Query]:
    """Parse queries with filters; an error names the source of the queries, the query and the character."""
    from tieaware.retrieval import parse_query

    def parse(name: str, text: str) -> Query:
        try:
            return parse_query(index, text)
        except InputError as error:
            if not error.where.startswith("query"):
                raise
            where = error.where.removeprefix("query")
            raise InputError(f"{source_name(source)}: query {name}{where}", error.problem) from None

    return {name: parse(name, text) for name, text in queries.items()}


def loaded_index(path: str) -> Index:
    """Load an index; raise InputError if the file is no index, or if its index cannot split queries into terms."""
    from tieaware.retrieval import Index, is_index_file

    if os.path.exists(path) and not is_index_file(path):
        problem = f"not an index; tieaware index {path} --save INDEX makes one of documents"
        raise InputError(source_name(path), problem)
    index = Index.load(path)
    if index.analyzer is None:
        problem = "the index was built with an analyzer that it cannot store: it can be searched in Python only"
        raise InputError(source_name(path), problem)
    return index


def built_index(
    paths: Sequence[str], arguments: argparse.Namespace, *, zones: bool = True, positions: bool = True
) -> Index:
    """Build an index from files and folders of documents, with the options in `BUILDING`."""
    from tieaware.retrieval import Analyzer, Index, is_index_file, read_quality
    from tieaware.retrieval.collections import read_collection

    for path in filter(is_index_file, paths):
        raise InputError(source_name(path), "this is an index already; tieaware search searches it")
    stemmer = arguments.stemmer or _STEMMER
    stop_words = _stop_words(arguments.stop_words or _STOP_WORDS)
    analyzer = Analyzer(stemmer=None if stemmer == "none" else stemmer, stop_words=stop_words)
    quality = None if arguments.quality is None else read_quality(arguments.quality)
    formats: set[Format] = set()
    with stage("documents") as advance:

        def counted() -> Any:
            for document in read_collection(paths, arguments.collection_format, zones=zones, found=formats):
                yield document
                advance(1)

        index = Index.build(counted(), analyzer=analyzer, quality=quality, positions=positions)
    index.format = formats.pop() if len(formats) == 1 else None
    return index


def _stop_words(given: str) -> str | list[str] | None:
    """Return the value of --stop-words as `Analyzer` takes it: a name, the words of a file, or None."""
    from tieaware.retrieval.collections import TextFile

    if given in STOP_WORDS:
        return None if given == "none" else given
    if not os.path.exists(given):
        raise unexpected("stop_words", f"{', '.join(STOP_WORDS)} or the name of a file", shown(given))
    with TextFile(given) as text:
        return list(dict.fromkeys(word.lower() for line in text for word in line.split()))


def index_of(path: str, arguments: argparse.Namespace) -> Index:
    """Load an index, or build one from a file or folder of documents."""
    from tieaware.retrieval import is_index_file

    if not is_index_file(path):
        return built_index([path], arguments)
    for option in ("stemmer", "stop_words", "quality"):
        if getattr(arguments, option) is not None:
            problem = f"--{option.replace('_', '-')} cannot be combined with an index, which has its own: {path}"
            raise InputError("", problem, argument=option)
    return loaded_index(path)
