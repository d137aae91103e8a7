"""SQL expressions that raise errors in Spark, and the conversion of these errors to InputError.

Conditions and error messages are built as SQL text, because pyspark sends a text to Java in one message. An expression
built from pyspark's functions would take dozens of messages.
"""

from __future__ import annotations

from typing import Any

from tieaware.errors import InputError

_LONGEST_SHOWN = 80
_UNPRINTABLE = r"\p{C}"

# Spark puts these texts before and after the message of raise_error.
_PREFIX, _SUFFIX = "[USER_RAISED_EXCEPTION] ", " SQLSTATE: P0001"


def literal(text: str) -> str:
    """Return an SQL literal for a text. It is written in hexadecimal, so that no character needs an escape."""
    return f"cast(X'{text.encode().hex()}' as string)"


def row_names() -> str:
    """Return an SQL expression that names the document and the query of a row in messages: printable, and shortened."""

    def shown(column: str) -> str:
        printable = f"regexp_replace(cast({column} as string), {literal(_UNPRINTABLE)}, '?')"
        quote = literal("'")
        return f"coalesce(concat({quote}, substring({printable}, 1, {_LONGEST_SHOWN}), {quote}), 'null')"

    return f"concat('document ', {shown('document')}, ' of query ', {shown('query')})"


def raising(frame: Any) -> Any:
    """Return a frame that raises an error with the text in its column `error` for a row where that is not null."""
    return frame.filter("case when error is not null then cast(raise_error(error) as boolean) else true end")


def raised(error: Exception, where: str) -> InputError | None:
    """Convert an error that the SQL function raise_error raised to InputError; return None for any other error.

    `where` is the place with which the message begins, such as "runs_df".
    """
    line = str(error).partition("\n")[0]
    if not line.startswith(_PREFIX):
        return None
    message = line.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    return InputError(where, message.removeprefix(f"{where}: "))
