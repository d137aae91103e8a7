"""Runs in part files, which are not read before they are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tieaware.inputs.duplicate_rows import Duplicates
from tieaware.inputs.part_files import Parts
from tieaware.inputs.part_frames import PartsFrame
from tieaware.inputs.run import RunSource
from tieaware.inputs.run_file import RunFile
from tieaware.inputs.run_frame import RunFrame
from tieaware.inputs.score_types import ScoreDtype


class RunParts(RunFile):
    """A run in part files in TREC's format. Parts that are tables become a `RunFrame`."""

    @classmethod
    def recognise(
        cls, value: Any, name: str, score_dtype: ScoreDtype, duplicates: Duplicates
    ) -> Sequence[RunSource] | None:
        """Wrap part files; return None for any other value. See `RunSource.recognise`."""
        if not isinstance(value, Parts):
            return None
        frame = PartsFrame.recognise(value)
        if frame is not None:
            return RunFrame.all_in(frame, value.source_name, value.run_name, score_dtype, duplicates, value)
        return [cls(value, score_dtype, duplicates)]
