"""Index files with changed content and a correct checksum."""

import numpy as np

from tieaware.retrieval import Index, index_file


def save_forged(path, change):
    """Write an index file with changed arrays and a correct checksum."""
    index = Index.build([("d1", "a b a"), ("d2", "b")], analyzer=str.split)
    arrays = {name: np.array(array) for name, array in index_file._arrays(index).items()}
    change(arrays)
    original, index_file._arrays = index_file._arrays, lambda _: arrays
    try:
        index.save(path)
    finally:
        index_file._arrays = original
