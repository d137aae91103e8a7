"""Atomic writing of files: errors leave no temporary files and no locks."""

from __future__ import annotations

import shutil

import pytest

import tieaware
from tieaware.runtime.atomic_files import whole_file


def test_an_error_while_removing_the_temporary_folder_releases_its_lock(tmp_path, monkeypatch):
    """The next call that writes to the same folder can then remove the temporary folder."""

    def exhausted(*_, **__):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", exhausted)
        with pytest.raises(MemoryError), whole_file(tmp_path / "file") as file:
            file.write(b"old")
    assert len(list(tmp_path.glob(".unfinished-*"))) == 1
    with whole_file(tmp_path / "file") as file:
        file.write(b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("error", [FileNotFoundError, OSError])
def test_an_error_of_the_caller_is_raised_and_leaves_nothing(tmp_path, error):
    with pytest.raises(tieaware.InputError), whole_file(tmp_path / "file"):
        raise error(2, "nothing there")
    assert list(tmp_path.iterdir()) == []
