"""The notebooks made of a chapter's script: one per language; a reader's own work is never overwritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def read(path: Path) -> Any:
    import nbformat  # imported lazily, here and below: it takes a second, even if the tests are only collected

    return nbformat.read(path, as_version=4)


def write(notebook: Any, path: Path) -> None:
    import nbformat

    nbformat.write(notebook, path)


def sources(notebook: Any) -> list[str]:
    return [cell.source for cell in notebook.cells]


def test_a_notebook_has_one_language(script: Path) -> None:
    english, chinese = (for_clone(script, language) for language in ("en", "zh"))
    assert [cell.cell_type for cell in english.cells] == ["markdown", "code", "code"]
    assert "# Small" in sources(english)[0]
    assert "小的" not in "".join(sources(english))
    assert [cell.cell_type for cell in chinese.cells] == ["code", "markdown", "code", "code"]
    assert "show_chinese()" in sources(chinese)[0]
    assert "# 小的\n\n见[那里]" in sources(chinese)[1]
    assert "，还有[实验]" in sources(chinese)[1]  # one line: Jupyter would show a line break as a space
    assert "Small" not in "".join(sources(chinese))


def test_links_lead_to_files_of_the_clone(script: Path) -> None:
    english, chinese = (for_clone(script, language) for language in ("en", "zh"))
    assert "See [there](there.md), [the lab](../../labs/ch06-x/README.md) and [Kafka](https://" in sources(english)[0]
    assert "见[那里](there.zh.md)，还有[实验](../../labs/ch06-x/README.zh.md)和[Kafka](https://" in sources(chinese)[1]


@pytest.mark.soak
def test_a_downloaded_notebook_is_executed_and_has_only_links_that_work_without_a_clone(script: Path) -> None:
    import nbformat

    english, chinese = (nbformat.reads(for_download(script, language), as_version=4) for language in ("en", "zh"))
    assert "See there, the lab and [Kafka](https://kafka.apache.org)." in sources(english)[0]
    assert english.cells[-1].outputs[0]["data"]["image/svg+xml"] == "<svg>a</svg>"
    assert chinese.cells[-1].outputs[0]["data"]["image/svg+xml"] == "<svg>甲</svg>"
    assert CHINESE not in json.dumps([english, chinese])
    assert for_download(script, "en") == for_download(script, "en")


def test_a_cell_whose_code_the_page_hides_is_collapsed(script: Path) -> None:
    assert [cell.metadata for cell in for_clone(script, "en").cells] == [{}, {}, {"jupyter": {"source_hidden": True}}]


def test_notebooks_are_not_paired_with_their_scripts(script: Path) -> None:
    assert "jupytext" not in for_clone(script, "en").metadata


@pytest.mark.soak
def test_a_notebook_is_written_without_the_outputs_of_an_earlier_execution(script: Path) -> None:
    import nbformat

    assert notebooks.executed(script).cells[-1].outputs
    path, written = write_for_clone(script, "zh")
    assert written
    assert path == script.with_name("small.zh.ipynb")
    assert [cell.outputs for cell in read(path).cells if cell.cell_type == "code"] == [[]] * 3
    nbformat.validate(read(path))


def test_outputs_of_the_reader_are_kept_while_the_script_is_unchanged(script: Path) -> None:
    import nbformat

    path, _ = write_for_clone(script, "en")
    notebook = read(path)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="mine")]
    write(notebook, path)
    assert write_for_clone(script, "en") == (path, True)
    assert "mine" in path.read_text()
    script.write_text(SCRIPT.replace("x = 1", "x = 2"), encoding="utf-8")
    assert write_for_clone(script, "en") == (path, True)
    assert sources(read(path))[1] == "x = 2"


def test_changes_of_the_reader_are_kept(script: Path) -> None:
    path, _ = write_for_clone(script, "en")
    notebook = read(path)
    notebook.cells[1].source = "x = 'my experiment'"
    write(notebook, path)
    script.write_text(SCRIPT.replace("x = 1", "x = 2"), encoding="utf-8")
    assert write_for_clone(script, "en") == (path, False)
    assert "my experiment" in path.read_text()


def test_a_chinese_notebook_draws_chinese_figures_when_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both_languages, "_shown", "en")
    shown = InBothLanguages({"en": "<svg>a</svg>", "zh": "<svg>甲</svg>"}.__getitem__)
    assert shown._repr_mimebundle_() == {"image/svg+xml": "<svg>a</svg>", CHINESE: "<svg>甲</svg>"}
    both_languages.show_chinese()
    assert shown._repr_mimebundle_() == {"image/svg+xml": "<svg>甲</svg>"}


def test_the_output_of_one_language_contains_its_figure_once() -> None:
    import nbformat

    svg = {"text/html": "<svg>a</svg>", "image/svg+xml": "<svg>a</svg>", "text/plain": "a", CHINESE: "<svg>甲</svg>"}
    output = nbformat.v4.new_output("display_data", svg)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    english, chinese = (in_language(notebook, language).cells[-1].outputs[0].data for language in ("en", "zh"))
    assert english == {"image/svg+xml": "<svg>a</svg>", "text/plain": "a"}
    assert chinese == {"image/svg+xml": "<svg>甲</svg>", "text/plain": "a"}


def test_jupyterlab_opens_the_requested_notebook() -> None:
    path = notebooks.PROJECT_ROOT / "chapters" / "ch06_storage" / "log_segments.ipynb"
    command, environment = lab_command(path, ["--no-browser"])
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/chapters/ch06_storage/log_segments.ipynb" in command
    assert command[-1] == "--no-browser"
    assert environment["PYTHONPATH"].split(":")[0] == str(notebooks.PROJECT_ROOT)
    assert "--LabApp.default_url=/lab/tree/chapters" in lab_command(None)[0]


def test_an_unknown_notebook_is_rejected_with_a_list_of_notebooks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["chapters/ch06_storage/log_segments.py"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "chapters/ch06_storage/log_segments.py is not a chapter's notebook. The notebooks are:" in said
    assert "  chapters/ch06_storage/log_segments.zh.ipynb" in said


def test_git_ignores_the_notebooks_beside_the_scripts() -> None:
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


def test_kept_changes_are_reported_to_the_reader(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = notebooks.PROJECT_ROOT / "chapters" / "ch" / "small.py"
    monkeypatch.setattr(
        jupyter_notebooks, "write_for_clone", lambda script, language: (script.with_suffix(".ipynb"), False)
    )
    jupyter_notebooks.write_all([script])
    assert "kept, because you changed it: chapters/ch/small.ipynb" in capsys.readouterr().out
