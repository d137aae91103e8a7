"""What several test modules need: test collections. And the order of the tests: the quick ones first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trec_files import Collection

from tieaware import samples


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what is marked as slow last, so that a failure shows within seconds; else keep the order."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session")
def data() -> Path:
    """Give the folder of public test collections: $TIEAWARE_DATA, or shared/data beside the repository."""
    root = Path(__file__).parent.parent
    folder = Path(os.environ.get("TIEAWARE_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the test collections are not at {folder}; TIEAWARE_DATA can name their folder")
    return folder


@pytest.fixture(scope="session")
def covid(data: Path) -> Collection:
    """Give the 42 runs submitted to the first round of TREC-COVID."""
    folder = data / "trec_covid_r1"
    return Collection(folder / "qrels-rnd1.txt", tuple(sorted((folder / "runs").iterdir())))


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Give a collection like the one in the wheel: six runs, from no ties to nothing but ties."""
    folder = tmp_path_factory.mktemp("collection") / "generated"
    samples.write(samples.generate(seed=7, n_queries=40, depth=250), folder)
    return Collection(folder / "qrels.txt", tuple(folder / "runs" / f"{name}.run" for name in samples.RUN_NAMES))


@pytest.fixture(scope="session", params=["generated", "covid"])
def collection(request: pytest.FixtureRequest) -> Collection:
    """Give a generated collection, then a public one where there are any: what holds for one, holds for the other."""
    found: Collection = request.getfixturevalue(request.param)
    return found
