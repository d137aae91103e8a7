"""Settings for tests of tools that `make test-tools` installs, most of which require torch, and of ragas and deepeval.

Without torch they are skipped, but for ragas and deepeval, which run in any environment that has them.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WITHOUT_TORCH = ("test_ragas.py", "test_deepeval.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip these tests if torch is not installed. Ignore warnings, which are errors in all other tests."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
            if item.path.name not in WITHOUT_TORCH and find_spec("torch") is None:
                item.add_marker(pytest.mark.skip(reason="torch is not installed: `make test-tools` tries it"))


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent downloads of models and data sets."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
