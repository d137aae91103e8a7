"""SQL expressions that raise errors, and the conversion of these errors to InputError.

Conditions and messages are SQL text, because a text goes to Java in one message. An expression of pyspark's functions
takes dozens of messages.
"""

from __future__ import annotations

from typing import Any

from tieaware.errors import InputError

_LONGEST_SHOWN = 80
_UNPRINTABLE = r"\p{C}"

# Spark puts these texts before and after the message of raise_error.
_PREFIX, _SUFFIX = "[USER_RAISED_EXCEPTION] ", " SQLSTATE: P0001"


def literal(text: str) -> str:
    """Return a text as an SQL literal, in hexadecimal, so that no character needs an escape."""
    return f"cast(X'{text.encode().hex()}' as string)"


def row_names() -> str:
    """Return an SQL expression for the document and query of a row, for messages: printable, and not too long."""

    def shown(column: str) -> str:
        printable = f"regexp_replace(cast({column} as string), {literal(_UNPRINTABLE)}, '?')"
        quote = literal("'")
        return f"coalesce(concat({quote}, substring({printable}, 1, {_LONGEST_SHOWN}), {quote}), 'null')"

    return f"concat('document ', {shown('document')}, ' of query ', {shown('query')})"


def raising(frame: Any) -> Any:
    """Return a frame that raises the text in its column `error` where that column is not null."""
    return frame.filter("case when error is not null then cast(raise_error(error) as boolean) else true end")


def raised(error: Exception, where: str) -> InputError | None:
    """Return an error that `raise_error` raised as InputError; None if it is another error.

    `where` is the place that the message begins with.
    """
    line = str(error).partition("\n")[0]
    if not line.startswith(_PREFIX):
        return None
    message = line.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    return InputError(where, message.removeprefix(f"{where}: "))
