"""The editor's modules find each other, and come with their licence."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.lab_page import editor_files
from kafka_learn.site.live_page import npm_package

FILES = [file._replace(sha256=hashlib.sha256(file.package.encode()).hexdigest()) for file in editor_files.FILES]


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The packages that were fetched; each has its name in its file."""
    found: list[str] = []

    def fetch(package: str, pins: dict[str, str]) -> dict[str, bytes]:
        found.append(package)
        return {path: package.rpartition("@")[0].encode() for path in pins}

    monkeypatch.setattr(npm_package, "fetch", fetch)
    monkeypatch.setattr(editor_files, "FILES", tuple(FILES))
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_args, **_options: str(tmp_path))
    return found


def test_each_file_is_fetched_once_and_kept(fetched: list[str], tmp_path: Path) -> None:
    first = dict(editor_files.editor_files())
    assert fetched == [f"{file.package}@{file.version}" for file in FILES]
    assert dict(editor_files.editor_files()) == first
    assert len(fetched) == len(FILES)
    assert first["codemirror-view.js"] == b"@codemirror/view"
    next((tmp_path / "codemirror-6").iterdir()).write_bytes(b"damaged")
    assert dict(editor_files.editor_files()) == first
    assert len(fetched) == len(FILES) + 1


def test_the_notice_has_the_licence_and_each_version(fetched: list[str]) -> None:
    notice = dict(editor_files.editor_files())["NOTICE.txt"].decode()
    assert "MIT License" in notice
    assert all(f"{file.package} {file.version}" in notice for file in FILES)


def test_the_map_has_every_package_that_our_editor_imports() -> None:
    element = editor_files.import_map("../../assets/labs/editor")
    imports = json.loads(element.removeprefix('<script type="importmap">').removesuffix("</script>"))["imports"]
    assert imports["@codemirror/state"] == "../../assets/labs/editor/codemirror-state.js"
    assert '"./assets/labs/editor/crelt.js"' in editor_files.import_map("assets/labs/editor")
    script = (PROJECT_ROOT / "docs" / "assets" / "labs" / "editor.mjs").read_text(encoding="utf-8")
    wanted = set(re.findall(r'import\("([^"]+)"\)', script))
    assert wanted
    assert wanted <= set(imports)
