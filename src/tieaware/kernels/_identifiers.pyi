from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = TypeVar("Array", bound=NDArray[Any])

def frozen_view(array: Array) -> Array: ...

class IdentifierArrays:
    @property
    def data(self) -> NDArray[np.uint8]: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def kind(self) -> Literal["text", "integer", "any"]: ...
    @classmethod
    def of(
        cls, data: NDArray[np.uint8], offsets: NDArray[np.int64], kind: Literal["text", "integer", "any"] = "any"
    ) -> Self: ...
    def _set(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], kind: Literal["text", "integer", "any"]
    ) -> None: ...
    def __len__(self) -> int: ...

def number(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def gather(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...
def duplicates(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], list_offsets: NDArray[np.int64], one: bool = False
) -> NDArray[np.int64]: ...
