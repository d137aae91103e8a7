"""The package's page on an index: its links and images are absolute, because relative ones do not work there."""

import re
from email import message_from_string
from pathlib import Path

import pytest
from support.pages import Page
from website import package_page

ROOT = Path(__file__).parents[2]
ADDRESS = package_page.repository()
REF = package_page.reference(package_page.settings(), package_page.version())


@pytest.fixture(scope="module")
def metadata(tmp_path_factory):
    """The metadata that the build writes into the wheel."""
    build = pytest.importorskip("scikit_build_core.build", reason="scikit-build-core is not installed")
    folder = tmp_path_factory.mktemp("metadata")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        made = build.prepare_metadata_for_build_wheel(str(folder))
    return message_from_string((folder / made / "METADATA").read_text(encoding="utf-8"))


def test_all_links_and_images_of_the_page_are_absolute(metadata):
    """The page is rendered as PyPI and `twine check` render it."""
    renderer = pytest.importorskip("readme_renderer.markdown", reason="readme-renderer is not installed")
    page = renderer.render(metadata.get_payload())
    if page is None:
        pytest.skip("readme-renderer[md] is not installed")
    found = [*Page(page).values("href"), *Page(page).values("src")]
    assert len(found) > 5
    # Headings link to themselves.
    assert [each for each in found if not each.startswith(("https://", "#user-content-"))] == []
    assert f"{ADDRESS}/blob/{REF}/docs/index.md" in found


def test_links_into_the_repository_lead_to_existing_files(metadata):
    paths = re.findall(rf"\({re.escape(ADDRESS)}/(?:blob|tree|raw)/{re.escape(REF)}/([^)#]+)", metadata.get_payload())
    paths += [url.partition(f"/{REF}/")[2] for url in metadata.get_all("Project-URL") if f"/{REF}/" in url]
    assert len(paths) > 5
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_only_relative_links_outside_code_are_changed():
    text = "[a](docs/index.md#x) ![b](website/x.svg) [c](examples) [d](https://x.org) [e](#f)\n```\nx[0](y)\n```\n"
    assert package_page.absolute(text, "https://host/us", "main") == (
        "[a](https://host/us/blob/main/docs/index.md#x) ![b](https://host/us/raw/main/website/x.svg) "
        "[c](https://host/us/tree/main/examples) [d](https://x.org) [e](#f)\n```\nx[0](y)\n```\n"
    )


@pytest.mark.parametrize(
    ("version", "ref"), [("0.3.0.dev0", "trunk"), ("0.3.0", "v0.3.0"), ("0.3.0rc1", "v0.3.0rc1")]
)
def test_links_of_a_release_lead_to_its_tag_and_others_to_the_branch(version, ref):
    assert package_page.reference({"branch": "trunk", "tag": "v{version}"}, version) == ref


def test_the_page_links_to_the_project(metadata):
    urls = dict(each.split(", ") for each in metadata.get_all("Project-URL"))
    assert set(urls) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    assert all(url.startswith(ADDRESS) for url in urls.values())


def test_the_citation_file_has_the_same_address():
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"url: {ADDRESS}" in lines
    assert f"repository-code: {ADDRESS}" in lines
