"""Recognition of tables in files."""

from __future__ import annotations

from tieaware.inputs.arrow_files import ArrowFile, ArrowStreamFile, ParquetFile
from tieaware.inputs.delimited_files import DelimitedFile
from tieaware.inputs.files import ByteStream
from tieaware.inputs.frames import Frame
from tieaware.inputs.json_lines import JsonLinesFile

# The kinds of table files, in the order in which they are tried. A new kind is a class in a file of its own, and a
# place in this list.
TABLE_FILES = (ParquetFile, ArrowFile, ArrowStreamFile, DelimitedFile, JsonLinesFile)


def table_in(stream: ByteStream) -> Frame | None:
    """Return the table in an open file; None, with nothing read, if the file is not a table.

    Raises
    ------
    InputError
        The file is a table that cannot be read.
    MissingExtraError
        Reading the table requires pyarrow.
    """
    for kind in TABLE_FILES:
        frame = kind.recognise(stream)
        if frame is not None:
            return frame
    return None
