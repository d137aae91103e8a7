"""Write seeds for the parser's corpus into a folder: small generated files, and lines with special cases."""

from __future__ import annotations

import gzip
import hashlib
import sys
import tempfile
from pathlib import Path

from tieaware import samples

LINES = (
    b"q Q0 d 1 1 t\nq Q0 e 2 1 t\n", b"q 0 d 1\nq 0 e -1\nr 0 d 2147483647\n", b"# comment\n\n \t\r\nq Q0 d 1 1 t",
    b"\xef\xbb\xbfq Q0 d 1 inf t\nq Q0 d 1 -Infinity t\n", b"q Q0 d 1 9007199254740993 t\n",
    b"q Q0 d 1 1e-400 t\nr Q0 d 1 2.2250738585072011e-308 t\n", b"q Q0 d 1 .5 t\nr Q0 d 1 5. t\nq Q0 e 1 +1E+2 t\n",
    b"q 0 d 1\nq 0 d 1\nq 0 d 2\n", b"q Q0 d 1 nan t\n", b"q Q0 d 1 123456789.12345678901 t\n",
    b"q Q0 " + b"x" * 300 + b" 1 1 t\n", b"q Q0 \0\xff\xfe 1 0.0000000000000000000000000000001 t\n",
)  # fmt: skip


def files() -> list[bytes]:
    """Return the special lines, and the files of a few small generated collections."""
    found = list(LINES)
    for seed, (n_queries, depth) in enumerate([(1, 1), (2, 3), (5, 4), (3, 20), (12, 10)]):
        with tempfile.TemporaryDirectory() as folder:
            collection = samples.generate(seed, n_queries, depth, n_documents=40, pool_depth=min(depth, 3))
            samples.write(collection, f"{folder}/sample")
            for path in sorted(Path(folder).glob("sample/**/*.*")):
                if path.suffix in (".txt", ".run"):
                    found.append(path.read_bytes())
    return [*found, gzip.compress(found[-1], mtime=0)]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for content in files():
        (folder / hashlib.sha1(content).hexdigest()).write_bytes(content)
