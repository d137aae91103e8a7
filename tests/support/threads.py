"""Threads that do something at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable


def in_threads(*tasks: Callable[[], object]) -> None:
    """Run each task in a thread of its own, all from the same moment; the errors that they raise are failures."""
    start, errors = threading.Barrier(len(tasks)), []

    def run(task: Callable[[], object]) -> None:
        start.wait()
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
