"""Settings for tests of tools that `make test-tools` installs, most of which require torch."""

from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Each test of a recipe needs its own tool only.
WITHOUT_TORCH = ("test_recipes.py",)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need torch if it is not installed. Ignore warnings, which are errors in all other tests."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
            if item.path.name not in WITHOUT_TORCH and find_spec("torch") is None:
                item.add_marker(pytest.mark.skip(reason="torch is not installed: `make test-tools` tries it"))


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Prevent downloads of models and data sets, and files in the current folder."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    monkeypatch.chdir(tmp_path)
