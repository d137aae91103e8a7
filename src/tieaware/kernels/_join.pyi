from typing import Any

import numpy as np
from numpy.typing import NDArray

class Index:
    n_queries: int
    def __init__(
        self,
        queries: NDArray[np.uint8],
        query_offsets: NDArray[np.int64],
        list_offsets: NDArray[np.int64],
        documents: NDArray[np.uint8],
        document_offsets: NDArray[np.int64],
        labels: NDArray[np.int32],
        hashes: NDArray[np.uint64] | None = None,
    ) -> None: ...

def in_order(rows: NDArray[np.int64], n: int) -> bool: ...

class JudgedColumns:
    queries: Any
    offsets: Any
    documents: Any
    labels: Any
    name: str
    n_columns: int | None
    def _hold(
        self,
        queries: Any,
        offsets: Any,
        documents: Any,
        labels: Any,
        name: str,
        n_columns: int | None,
        hashes: Any,
        judgments: Any,
    ) -> None: ...

def match(
    index: Index,
    queries: NDArray[np.uint8],
    query_offsets: NDArray[np.int64],
    list_offsets: NDArray[np.int64],
    documents: NDArray[np.uint8],
    document_offsets: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]: ...
def match_dict(
    index: Index, run: dict[Any, Any]
) -> (
    tuple[
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.float64],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.int32],
    ]
    | None
): ...
