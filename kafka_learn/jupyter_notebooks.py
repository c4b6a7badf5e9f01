"""Notebook files for Jupyter: one ``.ipynb`` in English and one in Chinese for each chapter's script.

``make notebook`` (``python -m kafka_learn.jupyter_notebooks``) writes them beside the scripts, where git ignores them,
and starts JupyterLab. They have no outputs, which would spoil the predictions. The site offers executed ones for
download.

They are not paired with their scripts by jupytext, because jupytext refuses to open an ``.ipynb`` that is newer than
its script, and an experiment saved by a reader would change the chapter.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from kafka_learn.both_languages import CHINESE, join_chinese_lines
from kafka_learn.drawing.notebook_run import RUN
from kafka_learn.notebooks import JUPYTER_SUFFIXES, discover, executed, is_chinese, read, texts
from kafka_learn.project import PROJECT_ROOT

_OURS = "kafka_learn"
"""Metadata key for the digest of the cells that the notebook was written with."""
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+:|#)([^)#]+)[^)]*\)")
_LAB = re.compile(r"(?:\.\./)*labs/(?P<name>[\w-]+)\.md")
_SPEAK_CHINESE = """\
# 从这里起，图中的文字用中文。
from kafka_learn.both_languages import show_chinese

show_chinese()"""
_SETTINGS = Path(__file__).with_name("jupyterlab")
"""JupyterLab's settings: fetch no news from outside hosts, and show the chapters' pages rendered."""


def in_language(notebook: Any, language: str) -> Any:
    """A copy of a notebook with the text and figures of one language.

    ``notebook`` has both languages, each English text followed by its Chinese one; it is not modified.
    """
    from nbformat import v4

    chinese = {id(english): translated for english, translated in texts(notebook) if english and translated}
    cells = []
    if language == "zh":
        cells.append(v4.new_code_cell(_SPEAK_CHINESE))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cells.append(_code_cell(cell, language))
        elif not is_chinese(cell):
            translated = chinese.get(id(cell)) if language == "zh" else None
            source = join_chinese_lines(translated.source).rstrip("\n") if translated else cell.source
            cells.append(v4.new_markdown_cell(source))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # not random, so that equal notebooks give equal files
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def for_download(script: Path, language: str) -> str:
    """The text of an executed ``.ipynb`` for reading on its own: links to the project's pages become plain text."""
    notebook = in_language(executed(script), language)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(r"\1", cell.source)
    return _as_text(notebook)


def for_clone(script: Path, language: str) -> Any:
    """The notebook for the folder of its script, without outputs and with links to files there."""
    notebook = in_language(read(script), language)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(lambda link: f"[{link[1]}]({_in_clone(link[2], language)})", cell.source)
    notebook.metadata[_OURS] = {"cells": _digest(notebook)}
    return notebook


def write_for_clone(script: Path, language: str) -> tuple[Path, bool]:
    """Write that file; returns its path, and False if an existing file was kept because a reader has changed it.

    A file whose cells are unchanged is rewritten if the script has changed.
    """
    import nbformat

    path = script.with_suffix(JUPYTER_SUFFIXES[language])
    notebook = for_clone(script, language)
    if path.exists():
        there = nbformat.read(path, as_version=4)
        if _digest(there) != there.metadata.get(_OURS, {}).get("cells"):
            return path, False
        if _digest(there) == _digest(notebook):
            return path, True
    path.write_text(_as_text(notebook), encoding="utf-8")
    return path, True


def write_all(scripts: Iterable[Path]) -> None:
    """Write the notebooks of these scripts in both languages, and report which were kept."""
    for script in scripts:
        for language in JUPYTER_SUFFIXES:
            path, written = write_for_clone(script, language)
            if not written:
                shown = path.relative_to(PROJECT_ROOT)
                sys.stdout.write(f"kept, because you changed it: {shown} (delete it to get a new one)\n")


def lab_command(
    notebook: Path | None, more: Iterable[str] = (), root: Path = PROJECT_ROOT
) -> tuple[list[str], dict[str, str]]:
    """The command that starts JupyterLab in the clone and opens ``notebook`` or the chapters, and its environment."""
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    command.append(f"--LabApp.app_settings_dir={_SETTINGS}")
    shown = "chapters" if notebook is None else notebook.resolve().relative_to(root).as_posix()
    command.append(f"--LabApp.default_url=/lab/tree/{shown}")
    if os.geteuid() == 0:
        command.append("--allow-root")  # in a container
    paths = filter(None, [str(PROJECT_ROOT), os.environ.get("PYTHONPATH")])
    return [*command, *more], {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def main(arguments: list[str] | None = None) -> int:
    """Write the notebooks, then replace this process with JupyterLab."""
    parser = argparse.ArgumentParser(
        prog="python -m kafka_learn.jupyter_notebooks",
        description="Write the chapters' notebooks for Jupyter, and start JupyterLab.",
        epilog="Other options are JupyterLab's, such as --no-browser or --port=8889.",
    )
    parser.add_argument("--write", action="store_true", help="only write the notebooks")
    parser.add_argument(
        "notebook", nargs="?", type=Path, help="the .ipynb of a chapter to open (default: the list of chapters)"
    )
    options, more = parser.parse_known_args(arguments)
    scripts = discover()
    files = [script.with_suffix(suffix) for script in scripts for suffix in JUPYTER_SUFFIXES.values()]
    if options.notebook is not None and options.notebook.resolve() not in files:
        there_are = "\n  ".join(str(file.relative_to(PROJECT_ROOT)) for file in files)
        parser.error(f"{options.notebook} is not a chapter's notebook. The notebooks are:\n  {there_are}")
    write_all(scripts)
    if not options.write:
        command, environment = lab_command(options.notebook, more)
        sys.stdout.flush()
        os.execve(command[0], command, environment)
    return 0


def _code_cell(cell: Any, language: str) -> Any:
    from nbformat import v4

    outputs = [_in_one_language(output, language) for output in cell.get("outputs", ())]
    hidden = {"jupyter": {"source_hidden": True}} if "hide-input" in cell.metadata.get("tags", ()) else {}
    count = cell.get("execution_count")
    return v4.new_code_cell(cell.source, outputs=outputs, execution_count=count, metadata=hidden)


def _in_one_language(output: Any, language: str) -> Any:
    """The output without its Chinese twin, or replaced by it."""
    from nbformat import from_dict

    if "data" not in output:
        return output
    ours = (CHINESE, *RUN.values())
    data: dict[str, Any] = {kind: value for kind, value in output.data.items() if kind not in ours}
    chinese = output.data.get(CHINESE)
    if language == "zh" and chinese is not None:
        kind = "image/svg+xml" if "<svg" in chinese else "text/markdown"
        data = {kind: chinese} | {kind: text for kind, text in data.items() if kind == "text/plain"}
    if "image/svg+xml" in data:
        data.pop("text/html", None)  # a duplicate of the SVG, or a run, which plays when the cell is run
    return from_dict({**output, "data": data})


def _in_clone(link: str, language: str) -> str:
    """The file in the clone that a link of the site corresponds to: labs' pages are their READMEs."""
    lab = _LAB.fullmatch(link)
    path = PurePosixPath(f"../../labs/{lab['name']}/README.md" if lab else link)
    return str(path.with_suffix(".zh.md") if language == "zh" and path.suffix == ".md" else path)


def _digest(notebook: Mapping[str, Any]) -> str:
    """A digest of the cells' sources, without their outputs."""
    cells = "\0".join(f"{cell['cell_type']}\0{cell['source']}" for cell in notebook["cells"])
    return hashlib.sha256(cells.encode()).hexdigest()[:16]


def _as_text(notebook: Any) -> str:
    import nbformat

    return str(nbformat.writes(notebook)) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
