"""The pages of a small project, as mkdocs gets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from kafka_learn.site import staging
from kafka_learn.site.staging import StagedFile, expanded, pages, stage

SOURCE = "<!-- source kafka_lite.common.murmur2:murmur2 -->\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A page in both languages, a picture, a chapter and a lab; no notebook."""
    for name, text in {
        "docs/index.md": "# Title\n",
        "docs/index.zh.md": "# 标题\n\n第一行\n第二行\n",
        "docs/assets/a.css": "body {}\n",
        "docs/.hidden": "",
        "chapters/ch01/page.md": f"# Page\n\n{SOURCE}",
        "chapters/ch01/page.zh.md": f"# 页\n\n{SOURCE}",
        "chapters/ch01/figure.py": "",
        "labs/one/README.md": "# Lab\n",
        "labs/one/README.zh.md": "# 实验\n",
        "labs/one/lab.toml": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_pages_assets_chapters_and_labs_have_their_places(project: Path) -> None:
    found = {str(file.target): file.origin.relative_to(project).as_posix() for file in pages(project)}
    assert found == {
        "index.md": "docs/index.md",
        "index.zh.md": "docs/index.zh.md",
        "assets/a.css": "docs/assets/a.css",
        "book/ch01/page.md": "chapters/ch01/page.md",
        "book/ch01/page.zh.md": "chapters/ch01/page.zh.md",
        "labs/one.md": "labs/one/README.md",
        "labs/one.zh.md": "labs/one/README.zh.md",
    }


def test_a_page_names_the_modules_that_it_shows(project: Path) -> None:
    file = StagedFile(project / "chapters/ch01/page.md", PurePosixPath("book/ch01/page.md"))
    text, sources = expanded(file, project)
    assert "def murmur2" in text
    assert [source.rpartition(".")[2] for source in sources] == ["murmur2"]
    plain = StagedFile(project / "docs/index.md", PurePosixPath("index.md"))
    assert expanded(plain, project) == ("# Title\n", set())


def test_lines_of_chinese_are_joined_without_a_space(project: Path) -> None:
    text, _ = expanded(StagedFile(project / "docs/index.zh.md", PurePosixPath("index.zh.md")), project)
    assert "第一行第二行" in text


def test_a_module_that_is_shown_gets_a_page_with_all_its_lines(project: Path) -> None:
    out = project / "out"
    written = stage(out, project)
    page = out / "source/kafka_lite/common/murmur2.md"
    assert page in written
    text = page.read_text(encoding="utf-8")
    assert text.startswith("---\ntitle: kafka_lite/common/murmur2.py\n")
    assert '{ .python linenums="1" }' in text
    assert (out / "assets/a.css").read_text() == "body {}\n"


def test_nothing_is_written_twice_and_what_is_no_longer_made_goes(project: Path) -> None:
    out = project / "out"
    stage(out, project)
    (out / "index.md").write_text("# Title\n")
    before = (out / "book/ch01/page.md").stat().st_mtime_ns
    (project / "labs/one/README.zh.md").unlink()
    stage(out, project)
    assert (out / "book/ch01/page.md").stat().st_mtime_ns == before
    assert not (out / "labs/one.zh.md").exists()


def test_the_live_cluster_adds_its_files_and_the_code_that_it_shows(project: Path) -> None:
    def live(folder: Path) -> Iterator[Path]:
        folder.mkdir(parents=True)
        (folder / "engine.js").write_text("")
        yield folder / "engine.js"

    stage(project / "out", project, live=live)
    engine = project / "out" / staging.LIVE
    assert {path.name for path in engine.iterdir()} == {"engine.js", "code.json"}
