"""The pages that the live cluster links from a function."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_learn.site.live_page.shown_code import shown_code


@pytest.fixture
def root(tmp_path: Path) -> Path:
    chapter = tmp_path / "chapters" / "ch06_storage"
    chapter.mkdir(parents=True)
    excerpt = "<!-- source kafka_lite.log.log:Log{} -->\n"
    for name, title, chinese, excerpts in (
        ("a-log", "A log", "日志", 1),
        ("files", '6.1 Files <a id="files"></a>', "6.1 文件", 2),
        ("twice", "Twice", "两次", 2),
    ):
        text = "".join(excerpt.format(f".method_{number}") for number in range(excerpts))
        (chapter / f"{name}.md").write_text(f"# {title}\n\n{text}", encoding="utf-8")
        (chapter / f"{name}.zh.md").write_text(f"# {chinese}\n\n{text}", encoding="utf-8")
    return tmp_path


def test_a_class_leads_to_the_page_with_the_most_of_it(root: Path) -> None:
    assert shown_code({"kafka_lite.log.log"}, root) == {
        "kafka_lite.log.log": {
            "file": "source/kafka_lite/log/log/",
            "classes": {"Log": {"page": "book/ch06_storage/files/", "en": "6.1 Files", "zh": "6.1 文件"}},
        }
    }


def test_a_module_without_a_page_is_left_out_and_so_are_files_that_are_no_source_of_kafka_lite(root: Path) -> None:
    shown = shown_code({"kafka_lite.network.selector", "chapters/x/Program.java"}, root)
    assert shown == {"kafka_lite.network.selector": {"file": "source/kafka_lite/network/selector/", "classes": {}}}
