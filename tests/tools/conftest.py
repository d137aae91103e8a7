"""Tests of tools that bring torch: `make test-tools` has them; elsewhere they are skipped, with the reason."""

from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip them without torch; and let the tools warn of what they will, which elsewhere is an error."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
            if find_spec("torch") is None:
                item.add_marker(pytest.mark.skip(reason="torch is not installed: `make test-tools` tries it"))


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model and no data set is looked for."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
