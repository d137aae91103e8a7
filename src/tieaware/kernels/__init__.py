"""The compiled kernels; their sources are in ext/."""

from pathlib import Path


def get_include() -> str:
    """Return the folder of the C header and the Cython declarations, with which compiled code calls evaluators.

    Returns
    -------
    str
        The folder of ``tieaware.h`` and ``tieaware.pxd``: a compiler's ``-I`` option, or `include_dirs` of an
        extension module.

    Examples
    --------
    The header is a file of the installed package.

    >>> import os, tieaware
    >>> sorted(os.listdir(tieaware.get_include()))
    ['tieaware.h', 'tieaware.pxd']
    """
    return str(Path(__file__).resolve().parents[1] / "include")
