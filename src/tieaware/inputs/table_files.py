"""Recognition of files that contain a table, such as Parquet and CSV files."""

from __future__ import annotations

from tieaware.inputs.arrow_files import ArrowFile, ArrowStreamFile, ParquetFile
from tieaware.inputs.delimited_files import DelimitedFile
from tieaware.inputs.files import ByteStream
from tieaware.inputs.frames import Frame
from tieaware.inputs.json_lines import JsonLinesFile

# The classes for the kinds of table files, in the order in which they are tried. To support a new kind, write a class
# in a file of its own, and list it here.
TABLE_FILES = (ParquetFile, ArrowFile, ArrowStreamFile, DelimitedFile, JsonLinesFile)


def table_in(stream: ByteStream) -> Frame | None:
    """Return the table in an open file. If the file does not contain a table, return None without consuming any bytes.

    Raises
    ------
    InputError
        The file contains a table, but the table cannot be read.
    MissingExtraError
        Reading the table requires pyarrow, which is not installed.
    """
    for kind in TABLE_FILES:
        frame = kind.recognise(stream)
        if frame is not None:
            return frame
    return None
