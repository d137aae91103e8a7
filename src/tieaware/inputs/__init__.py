"""What is evaluated: judgments and runs, as columns."""

from tieaware.inputs.identifiers import Identifiers
from tieaware.inputs.matching import Matched, match, match_dict
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.run import Run
from tieaware.inputs.run_file import RunFile
from tieaware.inputs.trec import read_qrels, read_run

__all__ = ["Identifiers", "Matched", "Qrels", "Run", "RunFile", "match", "match_dict", "read_qrels", "read_run"]
