"""The site builds in strict mode, all its links work, and errors stop the build.

Building it takes minutes of CPU time: every notebook runs, every page is expanded. ``make soak`` does it, or uses what
``make site-build`` has built. ``make test`` only looks for the code, figures and recorded runs that the pages name.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_learn import notebooks
from kafka_learn.java_source import find_java_symbol
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site import docs_site as site
from kafka_learn.site import search_index, staging
from kafka_learn.site.directives import DirectiveError
from kafka_learn.site.glossary import terms
from kafka_learn.site.link_check import PAGE_BYTES, check
from kafka_learn.source import UnknownSymbolError, find_symbol


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site that ``make site-build`` has made in KAFKA_LITE_BUILT_SITE, or one built here in the same way."""
    if ready := os.environ.get("KAFKA_LITE_BUILT_SITE"):
        return Path(ready)
    target = tmp_path_factory.mktemp("site")
    assert site.build(target) == 0
    return target


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_both_languages_have_code_figures_and_search(built):
    for page, title in (
        ("book/ch06_storage/log-segments", "Log segments and indexes"),
        ("zh/book/ch06_storage/log-segments", "日志分段与索引"),
        ("book/ch06_storage/log_segments_notebook", "byte by byte"),
        ("zh/book/ch06_storage/log_segments_notebook", "逐字节"),
        ("reference/configuration", "log.index.interval.bytes"),
        ("reference/apis", "ApiVersions"),
        ("reference/cli", "server-start"),
        ("zh/labs/ch06-offset-index", "偏移量索引"),
    ):
        text = (built / page / "index.html").read_text(encoding="utf-8")
        assert title in text, page
    chapter = (built / "book/ch06_storage/log-segments/index.html").read_text(encoding="utf-8")
    assert chapter.count("<svg role=") >= 6
    assert "_index_slot_for" in chapter
    index = json.loads((built / "search" / "en.json").read_text(encoding="utf-8"))
    assert any(row["location"].startswith("book/ch06_storage/log-segments/") for row in index["docs"])


@pytest.mark.soak
@pytest.mark.timeout(400)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_term_of_the_glossary_finds_its_own_page_first(built, language):
    """Types each term into the site's own search, with Node instead of a browser."""
    if shutil.which("node") is None:
        pytest.skip("node not found")
    words = sorted({term.word(language) for term in terms()})
    command = ["node", str(PROJECT_ROOT / "tests/support/search_site.mjs"), str(built), language]
    done = subprocess.run(command, input="\n".join(words), capture_output=True, text=True, check=True)
    found = {row["query"]: row["found"] for row in map(json.loads, done.stdout.splitlines())}
    own = {word: {place_of(term, language) for term in terms() if term.word(language) == word} for word in words}
    assert {word: found[word][:2] for word in words if not found[word] or page(found[word][0]) not in own[word]} == {}
    sizes = [(built / "search" / f"{each}.json").stat().st_size for each in ("search_index", language)]
    assert sizes[0] < 1_000
    assert sizes[1] < 2_700_000


def place_of(term, language):
    return page(search_index.location_of(term, language))


def page(location):
    return location.partition("#")[0]


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_the_sitemap_is_ours_and_names_no_page_without_an_address(built):
    assert "<loc>" not in (built / "sitemap.xml").read_text(encoding="utf-8")


@pytest.mark.soak
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("folder", "heading", "suffix"), [("book", "byte by byte", ".ipynb"), ("zh/book", "逐字节", ".zh.ipynb")]
)
def test_an_executed_notebook_can_be_downloaded_in_the_pages_language(built, folder, heading, suffix):
    page = built / folder / "ch06_storage" / "log_segments_notebook" / "index.html"
    html = page.read_text(encoding="utf-8")
    assert f"make notebook OPEN=chapters/ch06_storage/log_segments{suffix}\n" in re.sub("<[^>]+>", "", html)
    (link,) = set(re.findall(r'href="([^"]+\.ipynb)"', html))
    notebook = json.loads((page.parent / link).read_text(encoding="utf-8"))
    assert heading in "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    assert any(
        "image/svg+xml" in output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", ())
    )


def test_a_dead_link_in_a_built_page_is_found(tmp_path):
    for folder in ("quickstart", "labs"):
        (tmp_path / folder).mkdir()
        page = '<h1 id="top">Page</h1><a href="../labs/#top">there</a><a href="../nowhere/">not there</a>'
        (tmp_path / folder / "index.html").write_text(page, encoding="utf-8")
    assert check(tmp_path) == [f"{folder}/index.html: dead link ../nowhere/" for folder in ("labs", "quickstart")]


def test_a_page_that_is_too_large_is_found(tmp_path):
    for name, letters in (("small", PAGE_BYTES - 20), ("large", PAGE_BYTES)):
        (tmp_path / f"{name}.html").write_text(f"<p>{'x' * letters}</p>", encoding="utf-8")
    assert check(tmp_path) == ["large.html: has 300,007 bytes, and a page has at most 300,000"]


SMALL_SITE = """\
INHERIT: {project}/mkdocs.yml
docs_dir: {folder}/docs
theme: {{custom_dir: {project}/kafka_learn/site/theme}}
extra_css: []
extra_javascript: []
hooks: ["{project}/kafka_learn/site/path/site_menu.py", "{project}/kafka_learn/site/search_index.py"]
nav: [{{Home: index.md}}]
"""


@pytest.mark.soak
@pytest.mark.parametrize(("link", "verdict"), [("[x](index.md)", 0), ("[x](nowhere.md)", 1)])
def test_a_dead_link_between_pages_stops_the_build(tmp_path, capfd, link, verdict):
    """With the site's own configuration, but for one page."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Home\n\n{link}\n", encoding="utf-8")
    config = tmp_path / "mkdocs.yml"
    config.write_text(SMALL_SITE.format(project=PROJECT_ROOT, folder=tmp_path), encoding="utf-8")
    assert site._mkdocs("build", "--strict", "--site-dir", str(tmp_path / "site"), config=config) == verdict
    assert ("a link 'nowhere.md', but the target is not found" in capfd.readouterr().err) == bool(verdict)


@pytest.fixture
def project(tmp_path):
    """A project with one page and no notebook."""
    for folder in ("docs", "chapters", "labs"):
        (tmp_path / folder).mkdir()
    return tmp_path


SHOWN = re.compile(r"^ *<!-- (source|figure|generated|recording) (\S+)", re.MULTILINE)


def test_every_page_shows_code_figures_and_runs_that_exist():
    broken = []
    for file in staging.pages():
        if file.target.suffix == ".md":
            for verb, reference in SHOWN.findall(file.origin.read_text(encoding="utf-8")):
                try:
                    find_java_symbol(reference) if ".java:" in reference else find_symbol(reference)
                except UnknownSymbolError as error:
                    broken.append(f"{file.target}: {verb} {reference}: {error}")
    assert broken == []


def test_an_unknown_symbol_stops_the_build_and_names_page_and_line(project):
    page = project / "docs" / "index.md"
    page.write_text("# Title\n\n<!-- source kafka_lite.log.offset_index:OffsetIndex.lookup_all -->\n")
    with pytest.raises(DirectiveError, match=r"docs/index.md:3: there is no 'lookup_all'"):
        staging.stage(project / "out", project)


def test_staging_again_rewrites_nothing_and_removes_stale_files(project):
    (project / "docs" / "index.md").write_text("# Title\n")
    (project / "docs" / "gone.md").write_text("# Gone\n")
    staging.stage(project / "out", project)
    before = (project / "out" / "index.md").stat().st_mtime_ns
    (project / "docs" / "gone.md").unlink()
    staging.stage(project / "out", project)
    assert (project / "out" / "index.md").stat().st_mtime_ns == before
    assert not (project / "out" / "gone.md").exists()


@pytest.mark.soak
@pytest.mark.parametrize("script", notebooks.discover(), ids=lambda path: path.stem)
def test_a_notebook_runs_from_its_first_cell_to_its_last(built, script):
    notebook = notebooks.executed(script)  # in the build, which fails with the first cell that fails
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "stream" and output.name == "stderr"]


@pytest.mark.slow
@pytest.mark.soak
def test_a_failing_notebook_is_reported_with_its_error(tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("# %% [markdown]\n# # Broken\n\n# %%\nprint(1 / 0)\n")
    with pytest.raises(notebooks.NotebookError, match="ZeroDivisionError"):
        notebooks.execute(script)


@pytest.mark.soak
def test_a_notebook_with_a_cell_that_does_not_end_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "CELL_TIMEOUT_S", 1)
    script = tmp_path / "endless.py"
    script.write_text("# %%\nimport time\n\n# %%\nwhile True:\n    time.sleep(1)\n")
    with pytest.raises(notebooks.NotebookError, match=r"endless\.py: A cell timed out"):
        notebooks.execute(script)


def test_the_command_line_of_the_site_has_its_verbs():
    command = [sys.executable, "-m", "kafka_learn.site", "--help"]
    shown = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True).stdout
    assert "build" in shown
    assert "serve" in shown
