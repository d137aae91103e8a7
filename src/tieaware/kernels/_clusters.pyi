import numpy as np
from numpy.typing import NDArray

def search(
    leader_starts: NDArray[np.int64],
    leaders: NDArray[np.int32],
    leader_weights: NDArray[np.float32],
    cluster_starts: NDArray[np.int64],
    documents: NDArray[np.int32],
    n_documents: int,
    starts: NDArray[np.int64],
    positions: NDArray[np.int32],
    weights: NDArray[np.float32],
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    b2: int,
    k: int,
    whole_ties: bool,
    has_duplicates: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]: ...
def nearest(
    offsets: NDArray[np.int64],
    terms: NDArray[np.int32],
    weights: NDArray[np.float32],
    starts: NDArray[np.int64],
    leaders: NDArray[np.int32],
    leader_weights: NDArray[np.float32],
    n_leaders: int,
    rows: NDArray[np.int64],
    dense_weights: NDArray[np.float32],
    b: int,
    out: NDArray[np.int32],
) -> None: ...
