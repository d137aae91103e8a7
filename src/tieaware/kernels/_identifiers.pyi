import numpy as np
from numpy.typing import NDArray

def number(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def gather(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...
def duplicates(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], list_offsets: NDArray[np.int64], one: bool = False
) -> NDArray[np.int64]: ...
