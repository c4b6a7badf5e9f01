"""The chapters' notebooks: percent scripts that are executed, then shown on the site or opened in Jupyter.

A notebook is a Python script with ``# %%`` cells (jupytext's percent format), so it is reviewed, linted and refactored
like any other code. ``python -m kafka_learn.notebooks`` executes all of them; ``jupyter_notebooks`` converts them to
Jupyter's files.

Code appears once, text twice: each English cell is followed by its Chinese one, ``# %% [markdown] lang="zh"``. One
execution yields two pages with the same code and the same outputs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pymdownx.slugs import slugify  # type: ignore[import-untyped]

from kafka_learn.both_languages import CHINESE
from kafka_learn.drawing.notebook_run import RUN
from kafka_learn.drawing.playable_figure import sources_of
from kafka_learn.kept.used_files import UsedFiles, is_current
from kafka_learn.project import PROJECT_ROOT

EXECUTED = PROJECT_ROOT / ".build" / "notebooks"
JUPYTER_SUFFIXES = {"en": ".ipynb", "zh": ".zh.ipynb"}
"""Suffixes of a notebook's Jupyter files, by language."""
CELL_TIMEOUT_S = 600
"""For a cell that does not end. On a busy machine one with Spark and a kill takes minutes."""
_NOT_INLINE = ("<?xml", "<!DOCTYPE")
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_SLUG = slugify(case="lower")
_ANSWER = {"en": "The answer: predict first", "zh": "答案：请先预测"}
_VERDICT = "check(answer)"
"""In a cell that says whether the reader's answer is right: it gives nothing away."""
_SOURCE_PAGES = "../../../source/"
"""The site's pages of source, from the page of a notebook."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class NotebookError(Exception):
    """A notebook's cell failed; the message contains the notebook, the cell and its traceback."""


def discover(root: Path = PROJECT_ROOT) -> list[Path]:
    """Every notebook of the chapters, in chapter order."""
    return sorted(path for path in (root / "chapters").glob("*/*.py") if "# %%" in path.read_text(encoding="utf-8"))


def read(path: Path) -> Any:
    """Read a notebook from a script or an ``.ipynb``."""
    import jupytext  # imported lazily, here and below: it takes seconds

    return jupytext.read(path)


def write(notebook: Any, path: Path) -> None:
    """Write a notebook in the format of the path's suffix."""
    import jupytext

    jupytext.write(notebook, path)


def execute(script: Path, environment: Mapping[str, str] = os.environ) -> Any:
    """Run all cells of a notebook in a fresh kernel. Raises NotebookError for the first cell that fails."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError
    from traitlets.config import Config

    notebook = read(script)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), str(PROJECT_ROOT)]))
    place = {"metadata": {"path": str(script.parent)}}
    with tempfile.TemporaryDirectory(prefix="kafka-lite-kernel-") as sockets:
        no_ports = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        client = NotebookClient(
            notebook, timeout=CELL_TIMEOUT_S, resources=place, config=no_ports, coalesce_streams=True
        )
        try:
            return client.execute(env={**environment, "PYTHONPATH": path})
        except (CellExecutionError, CellTimeoutError) as error:
            raise NotebookError(f"{script.name}: {_ANSI.sub('', str(error))}") from error


def executed(script: Path) -> Any:
    """The notebook with its outputs, taken from the last execution if no file that it has read has changed since.

    Its text is the script's: correcting a sentence does not require an execution.
    """
    notebook = read(script)
    kept = _kept(script, notebook)
    if not is_current(kept):
        with UsedFiles() as used:
            done = execute(script, used.environment())
            EXECUTED.mkdir(parents=True, exist_ok=True)
            for stale in EXECUTED.glob(f"{script.parent.name}-{script.stem}-*.ipynb*"):
                stale.unlink()
            write(done, kept)
            used.note(kept)
    return _with_outputs(notebook, kept)


def execute_changed(scripts: Iterable[Path]) -> Iterator[tuple[Path, NotebookError | None]]:
    """Bring notebooks' outputs up to date, one per processor at a time; yields each, in order, with its failure."""
    scripts = list(scripts)
    if all(is_current(_kept(script, read(script))) for script in scripts):
        yield from ((script, None) for script in scripts)
        return
    # Processes, because Jupyter's client leaves an open event loop behind in every thread that it runs in.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        yield from zip(scripts, pool.map(_failure_of, scripts), strict=True)


def _failure_of(script: Path) -> NotebookError | None:
    try:
        executed(script)
    except NotebookError as error:
        return error
    return None


def _kept(script: Path, notebook: Any) -> Path:
    return EXECUTED / f"{script.parent.name}-{script.stem}-{_digest(notebook)}.ipynb"


def _with_outputs(notebook: Any, kept: Path) -> Any:
    for cell, done in zip(_code(notebook), _code(read(kept)), strict=True):
        cell.outputs, cell.execution_count = done.outputs, done.execution_count
    return notebook


def as_pages(script: Path) -> Iterator[tuple[str, str]]:
    """Yield each language with the executed notebook as a page: Markdown, code blocks, outputs, inline SVG drawings."""
    notebook = executed(script)
    relative = script.relative_to(PROJECT_ROOT)
    for language, how_to_open in _HOW_TO_OPEN.items():
        parts = list(_parts(notebook, language))
        notebook_file = relative.with_suffix(JUPYTER_SUFFIXES[language])
        download = relative.with_suffix(JUPYTER_SUFFIXES["en"]).name  # the site's languages have the same names
        parts.insert(1, how_to_open.format(script=relative, notebook=notebook_file, download=download))
        yield language, "\n\n".join(parts) + "\n"


_COMMAND = """

    ```console
    $ make notebook OPEN={notebook}
    ```"""
_HOW_TO_OPEN = {
    "en": """!!! tip "Run it yourself"
    This page is the executed notebook `{script}`: [download it]({download}) to read it in Jupyter. To run it, open it
    in a clone of the project:"""
    + _COMMAND,
    "zh": """!!! tip "自己运行"
    本页就是执行过的笔记本 `{script}`，可以[下载]({download})后在 Jupyter 里阅读。要运行它，请在项目的克隆里打开："""
    + _COMMAND,
}


def sources(script: Path) -> set[str]:
    """The modules whose lines run in the recorded runs of an executed notebook."""
    outputs = (output for cell in _code(executed(script)) for output in cell.outputs)
    runs = filter(None, (output.get("data", {}).get(RUN["en"]) for output in outputs))
    return {path.removesuffix(".py").replace("/", ".") for run in runs for path in sources_of(run)}


def texts(notebook: Any) -> Iterator[tuple[Any, Any]]:
    """Each English text cell with its Chinese one; None if one of them is missing."""
    waiting = None
    for cell in notebook.cells:
        if waiting is not None:
            yield waiting, cell if is_chinese(cell) else None
        elif is_chinese(cell):
            yield None, cell
        waiting = cell if cell.cell_type == "markdown" and not is_chinese(cell) else None
    if waiting is not None:
        yield waiting, None


def is_chinese(cell: Any) -> bool:
    """Whether a cell is Chinese text."""
    return bool(cell.cell_type == "markdown" and cell.metadata.get("lang") == "zh")


def _parts(notebook: Any, language: str) -> Iterator[str]:
    chinese = {id(english): cell.source for english, cell in texts(notebook) if english and cell}
    is_asked = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and not is_chinese(cell):
            is_asked = asks(cell.source)
            translated = chinese.get(id(cell)) if language == "zh" else None
            yield with_anchors_of(cell.source, translated) if translated else cell.source
        elif cell.cell_type == "code" and cell.source.strip():
            if "hide-input" not in cell.metadata.get("tags", []):
                yield f"````python\n{cell.source}\n````"
            outputs = list(filter(None, (_output(output, language) for output in cell.outputs)))
            is_answer = is_asked and _VERDICT not in cell.source
            yield from (folded(output, language) for output in outputs) if is_answer else outputs


def asks(text: str) -> bool:
    """Whether a text ends in a question, which the reader is to answer before looking at what the next cells print.

    >>> asks("**Which thread sent the response?**"), asks("Who knows? Look.")
    (True, False)
    """
    return text.rstrip(" \n*_)`\"'").endswith("?")


def folded(output: str, language: str) -> str:
    """An output that unfolds on a click, so that it does not spoil a prediction."""
    title = _ANSWER[language]
    if output.startswith("<figure"):
        return f'<details class="question"><summary>{title}</summary>\n{output}\n</details>'
    rows = (f"    {row}" if row else row for row in output.splitlines())
    return "\n".join([f'??? question "{title}"', "", *rows])


def headings(text: str) -> list[str]:
    """The headings of a cell, including the ``#`` marks."""
    return _HEADING.findall(text)


def with_anchors_of(english: str, chinese: str) -> str:
    """The Chinese text with the English headings' anchors, so that links work in both languages.

    >>> with_anchors_of("## Two deaths\\n\\nSix records.", "## 两次崩溃\\n\\n六条记录。")
    '## 两次崩溃 { #two-deaths }\\n\\n六条记录。'
    """
    if len(headings(english)) != len(headings(chinese)):
        raise NotebookError(f"the headings of the two languages differ: {headings(english)}, {headings(chinese)}")
    slugs = iter([_SLUG(heading.lstrip("# "), "-") for heading in headings(english)])
    return _HEADING.sub(lambda heading: f"{heading[0]} {{ #{next(slugs)} }}", chinese)


def _output(output: Any, language: str) -> str:
    """One output of a cell: drawings and tables unchanged, text in a block."""
    if output.output_type == "stream":
        return _text(output.text)
    data = output.get("data", {})
    if run := data.get(RUN[language]) or data.get(RUN["en"]):
        placed = run.replace('">', f'" data-source="{_SOURCE_PAGES}">', 1)
        return f'<figure class="drawing recording">\n{placed}\n</figure>'
    if language == "zh" and CHINESE in data:
        kind = "image/svg+xml" if "<svg" in data[CHINESE] else "text/markdown"
        data = {kind: data[CHINESE]}
    for mime in ("image/svg+xml", "text/html"):
        if mime in data:
            rows = (row for row in data[mime].splitlines() if row.strip() and not row.startswith(_NOT_INLINE))
            return '<figure class="drawing">\n' + "\n".join(rows) + "\n</figure>"
    if "text/markdown" in data:
        return str(data["text/markdown"])
    return _text(data.get("text/plain", ""))


def _text(text: str) -> str:
    text = _ANSI.sub("", text).rstrip("\n")
    return f"````{{ .text .output }}\n{text}\n````" if text else ""


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _digest(notebook: Any) -> str:
    """A digest of the notebook's code."""
    return hashlib.sha256("\0".join(cell.source for cell in _code(notebook)).encode()).hexdigest()[:16]


def main(arguments: list[str] | None = None) -> int:
    """Execute the given notebooks, or all; returns 1 if a cell fails."""
    parser = argparse.ArgumentParser(prog="python -m kafka_learn.notebooks", description="Execute notebooks.")
    parser.add_argument("scripts", nargs="*", type=Path, help="notebooks to execute (default: all chapters' notebooks)")
    options = parser.parse_args(arguments)
    known = discover()
    for path in options.scripts:
        if path.resolve() not in known:
            there_are = "\n  ".join(str(script.relative_to(PROJECT_ROOT)) for script in known)
            parser.error(f"{path} is not a chapter's notebook. The notebooks are:\n  {there_are}")
    failures = 0
    for script, failure in execute_changed([path.resolve() for path in options.scripts] or known):
        if failure is None:
            sys.stdout.write(f"executed: {script.relative_to(PROJECT_ROOT)}\n")
        else:
            sys.stderr.write(f"{failure}\n")
            failures += 1
    if not failures:
        sys.stdout.write("`make site` shows them with their output, `make notebook` opens them in Jupyter\n")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
