"""The files for Jupyter that are made of a chapter's script: one for each language, never over a reader's own work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from kafka_learn import both_languages, jupyter_notebooks, notebooks
from kafka_learn.both_languages import CHINESE, InBothLanguages
from kafka_learn.jupyter_notebooks import for_clone, for_download, in_language, lab_command, main, write_for_clone

SCRIPT = """\
# %% [markdown]
# # Small
#
# See [there](there.md), [the lab](../../labs/ch06-x.md) and [Kafka](https://kafka.apache.org).

# %% [markdown] lang="zh"
# # 小的
#
# 见[那里](there.md)，
# 还有[实验](../../labs/ch06-x.md)和[Kafka](https://kafka.apache.org)。

# %%
x = 1

# %% tags=["hide-input"]
from kafka_learn.both_languages import InBothLanguages

InBothLanguages({"en": "<svg>a</svg>", "zh": "<svg>甲</svg>"}.__getitem__)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(notebooks, "EXECUTED", tmp_path / "executed")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    path = tmp_path / "chapter" / "small.py"
    path.parent.mkdir()
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def sources(notebook: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in notebook.cells]


def test_a_notebook_is_in_one_language(script: Path) -> None:
    english, chinese = (for_clone(script, language) for language in ("en", "zh"))
    assert [cell.cell_type for cell in english.cells] == ["markdown", "code", "code"]
    assert "# Small" in sources(english)[0]
    assert "小的" not in "".join(sources(english))
    assert [cell.cell_type for cell in chinese.cells] == ["code", "markdown", "code", "code"]
    assert "show_chinese()" in sources(chinese)[0]
    assert "# 小的\n\n见[那里]" in sources(chinese)[1]
    assert "，还有[实验]" in sources(chinese)[1]  # one line: Jupyter would show its end as a space
    assert "Small" not in "".join(sources(chinese))


def test_links_lead_to_files_of_the_clone(script: Path) -> None:
    english, chinese = (for_clone(script, language) for language in ("en", "zh"))
    assert "See [there](there.md), [the lab](../../labs/ch06-x/README.md) and [Kafka](https://" in sources(english)[0]
    assert "见[那里](there.zh.md)，还有[实验](../../labs/ch06-x/README.zh.md)和[Kafka](https://" in sources(chinese)[1]


def test_a_downloaded_notebook_is_executed_and_links_to_nothing_that_its_reader_does_not_have(script: Path) -> None:
    english, chinese = (nbformat.reads(for_download(script, language), as_version=4) for language in ("en", "zh"))
    assert "See there, the lab and [Kafka](https://kafka.apache.org)." in sources(english)[0]
    assert english.cells[-1].outputs[0]["data"]["image/svg+xml"] == "<svg>a</svg>"
    assert chinese.cells[-1].outputs[0]["data"]["image/svg+xml"] == "<svg>甲</svg>"
    assert CHINESE not in json.dumps([english, chinese])
    assert for_download(script, "en") == for_download(script, "en")


def test_a_cell_whose_code_the_page_hides_is_folded(script: Path) -> None:
    assert [cell.metadata for cell in for_clone(script, "en").cells] == [{}, {}, {"jupyter": {"source_hidden": True}}]


def test_nothing_pairs_a_notebook_with_its_script(script: Path) -> None:
    assert "jupytext" not in for_clone(script, "en").metadata


def test_a_notebook_is_written_with_the_outputs_of_an_earlier_execution(script: Path) -> None:
    path, written = write_for_clone(script, "zh")
    assert written
    assert path == script.with_name("small.zh.ipynb")
    assert nbformat.read(path, as_version=4).cells[-1].outputs == []
    notebooks.executed(script)
    assert write_for_clone(script, "zh") == (path, True)
    assert nbformat.read(path, as_version=4).cells[-1].outputs[0]["data"]["image/svg+xml"] == "<svg>甲</svg>"
    nbformat.validate(nbformat.read(path, as_version=4))


def test_what_a_reader_has_run_stays_as_long_as_the_script_says_the_same(script: Path) -> None:
    path, _ = write_for_clone(script, "en")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="mine")]
    nbformat.write(notebook, path)
    assert write_for_clone(script, "en") == (path, True)
    assert "mine" in path.read_text()
    script.write_text(SCRIPT.replace("x = 1", "x = 2"), encoding="utf-8")
    assert write_for_clone(script, "en") == (path, True)
    assert sources(nbformat.read(path, as_version=4))[1] == "x = 2"


def test_what_a_reader_has_changed_stays(script: Path) -> None:
    path, _ = write_for_clone(script, "en")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = "x = 'my experiment'"
    nbformat.write(notebook, path)
    script.write_text(SCRIPT.replace("x = 1", "x = 2"), encoding="utf-8")
    assert write_for_clone(script, "en") == (path, False)
    assert "my experiment" in path.read_text()


def test_figures_of_a_chinese_notebook_are_chinese_when_they_are_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both_languages, "_shown", "en")
    shown = InBothLanguages({"en": "<svg>a</svg>", "zh": "<svg>甲</svg>"}.__getitem__)
    assert shown._repr_mimebundle_() == {"image/svg+xml": "<svg>a</svg>", CHINESE: "<svg>甲</svg>"}
    both_languages.show_chinese()
    assert shown._repr_mimebundle_() == {"image/svg+xml": "<svg>甲</svg>"}


def test_an_output_of_one_language_has_its_figure_once() -> None:
    svg = {"text/html": "<svg>a</svg>", "image/svg+xml": "<svg>a</svg>", "text/plain": "a", CHINESE: "<svg>甲</svg>"}
    output = nbformat.v4.new_output("display_data", svg)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    english, chinese = (in_language(notebook, language).cells[-1].outputs[0].data for language in ("en", "zh"))
    assert english == {"image/svg+xml": "<svg>a</svg>", "text/plain": "a"}
    assert chinese == {"image/svg+xml": "<svg>甲</svg>", "text/plain": "a"}


def test_the_lab_opens_the_notebook_that_is_asked_for() -> None:
    path = notebooks.PROJECT_ROOT / "chapters" / "ch06_storage" / "log_segments.ipynb"
    command, environment = lab_command(path, ["--no-browser"])
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/chapters/ch06_storage/log_segments.ipynb" in command
    assert command[-1] == "--no-browser"
    assert environment["PYTHONPATH"].split(":")[0] == str(notebooks.PROJECT_ROOT)
    assert "--LabApp.default_url=/lab/tree/chapters" in lab_command(None)[0]


def test_what_is_no_notebook_is_told_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["chapters/ch06_storage/log_segments.py"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "chapters/ch06_storage/log_segments.py is no notebook of the chapters. They are:" in said
    assert "  chapters/ch06_storage/log_segments.zh.ipynb" in said


def test_git_ignores_what_is_written_beside_the_scripts() -> None:
    files = [
        str(script.relative_to(notebooks.PROJECT_ROOT).with_suffix(suffix))
        for script in notebooks.discover()
        for suffix in notebooks.JUPYTER_SUFFIXES.values()
    ]
    command = ["git", "check-ignore", *files]
    ignored = subprocess.run(command, cwd=notebooks.PROJECT_ROOT, capture_output=True, text=True, check=False)
    if ignored.returncode == 128:
        pytest.skip("this is no clone")
    assert ignored.stdout.splitlines() == files


def test_the_reader_is_told_what_was_kept(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    script = notebooks.PROJECT_ROOT / "chapters" / "ch" / "small.py"
    monkeypatch.setattr(
        jupyter_notebooks, "write_for_clone", lambda script, language: (script.with_suffix(".ipynb"), False)
    )
    jupyter_notebooks.write_all([script])
    assert "kept as you have changed it: chapters/ch/small.ipynb" in capsys.readouterr().out
