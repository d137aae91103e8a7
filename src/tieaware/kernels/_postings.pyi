import numpy as np
from numpy.typing import NDArray

def build(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_terms: int, positions: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32] | None] | int: ...
def transposed(
    offsets: NDArray[np.int64], columns: NDArray[np.int32], frequencies: NDArray[np.int32], n_terms: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
def first_disorder(
    starts: NDArray[np.int64], documents: NDArray[np.int32], frequencies: NDArray[np.int32], n_documents: int
) -> int: ...
