"""The chapters' notebooks: percent scripts, executed for real, then shown on the site or opened in Jupyter.

A notebook is a Python script with ``# %%`` cells (jupytext's percent format), so that it is reviewed, linted and
renamed through like any code. ``python -m kafka_lite.learn.notebooks`` executes all of them; ``--pair`` writes an
``.ipynb`` beside each script for those who prefer the file that Jupyter saves.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from kafka_lite.learn.book_map import PROJECT_ROOT

EXECUTED = PROJECT_ROOT / ".build" / "notebooks"
CELL_TIMEOUT_S = 120
_NOT_INLINE = ("<?xml", "<!DOCTYPE")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class NotebookError(Exception):
    """A cell of a notebook failed; the message has the notebook, the cell and its traceback."""


def discover(root: Path = PROJECT_ROOT) -> list[Path]:
    """Every notebook of the chapters, in the chapters' order."""
    return sorted(path for path in (root / "chapters").glob("*/*.py") if "# %%" in path.read_text(encoding="utf-8"))


def execute(script: Path) -> Any:
    """Run a notebook from its first cell to its last in a fresh kernel; NotebookError at the first cell that fails."""
    notebook = jupytext.read(script)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PROJECT_ROOT), environment.get("PYTHONPATH")]))
    place = {"metadata": {"path": str(script.parent)}}
    with tempfile.TemporaryDirectory(prefix="kafka-lite-kernel-") as sockets:
        no_ports = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        client = NotebookClient(
            notebook, timeout=CELL_TIMEOUT_S, resources=place, config=no_ports, coalesce_streams=True
        )
        try:
            return client.execute(env=environment)
        except CellExecutionError as error:
            raise NotebookError(f"{script.name}: {_ANSI.sub('', str(error))}") from error


def executed(script: Path) -> Any:
    """The notebook with its outputs: from the last execution, if neither it nor the code it runs has changed since."""
    digest = _digest(script)
    cache = EXECUTED / f"{script.parent.name}-{script.stem}-{digest}.ipynb"
    if cache.exists():
        return jupytext.read(cache)
    notebook = execute(script)
    EXECUTED.mkdir(parents=True, exist_ok=True)
    for stale in EXECUTED.glob(f"{script.parent.name}-{script.stem}-*.ipynb"):
        stale.unlink()
    jupytext.write(notebook, cache)
    return notebook


def as_page(script: Path) -> str:
    """An executed notebook as a page of the site: Markdown, code blocks, outputs, drawings as inline SVG."""
    parts = list(_parts(executed(script)))
    relative = script.relative_to(PROJECT_ROOT)
    parts.insert(1, _HOW_TO_OPEN.format(script=relative, notebook=relative.with_suffix(".ipynb")))
    return "\n\n".join(parts) + "\n"


_HOW_TO_OPEN = """!!! tip "Run it yourself"
    This page is the executed notebook `{script}`. In a clone of the project, after `make setup`:

    ```console
    $ .venv/bin/python -m kafka_lite.learn.notebooks --pair {script}
    $ .venv/bin/jupyter lab {notebook}
    ```"""


def _parts(notebook: Any) -> Iterator[str]:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell.source
        elif cell.cell_type == "code" and cell.source.strip():
            if "hide-input" not in cell.metadata.get("tags", []):
                yield f"````python\n{cell.source}\n````"
            yield from filter(None, map(_output, cell.outputs))


def _output(output: Any) -> str:
    """One output of a cell: drawings and tables as they are, text in a block."""
    if output.output_type == "stream":
        return _text(output.text)
    data = output.get("data", {})
    for mime in ("image/svg+xml", "text/html"):
        if mime in data:
            rows = (
                row for row in data[mime].splitlines() if row.strip() and not row.startswith(("<?xml", "<!DOCTYPE"))
            )
            return '<figure class="drawing">\n' + "\n".join(rows) + "\n</figure>"
    if "text/markdown" in data:
        return str(data["text/markdown"])
    return _text(data.get("text/plain", ""))


def _text(text: str) -> str:
    text = _ANSI.sub("", text).rstrip("\n")
    return f"````{{ .text .output }}\n{text}\n````" if text else ""


def _digest(script: Path) -> str:
    """Over the notebook and all code that it may run."""
    digest = hashlib.sha256(script.read_bytes())
    for path in sorted((PROJECT_ROOT / "kafka_lite").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def pair(script: Path) -> Path:
    """Write the notebook as an ``.ipynb`` beside its script, without outputs; returns its path."""
    path = script.with_suffix(".ipynb")
    notebook = jupytext.read(script)
    notebook.metadata["jupytext"] = {"formats": "ipynb,py:percent"}
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def main(arguments: list[str] | None = None) -> int:
    """Execute the given notebooks, or all; exit code 1 when a cell fails."""
    parser = argparse.ArgumentParser(prog="python -m kafka_lite.learn.notebooks", description="Execute notebooks.")
    parser.add_argument("--pair", action="store_true", help="write an .ipynb beside each script instead")
    parser.add_argument("scripts", nargs="*", type=Path, help="default: every notebook of the chapters")
    options = parser.parse_args(arguments)
    known = discover()
    for path in options.scripts:
        if path.resolve() not in known:
            there_are = "\n  ".join(str(script.relative_to(PROJECT_ROOT)) for script in known)
            parser.error(f"{path} is no notebook of the chapters. They are:\n  {there_are}")
    failures = 0
    for script in [path.resolve() for path in options.scripts] or known:
        try:
            shown = pair(script) if options.pair else executed(script) and script
            sys.stdout.write(f"{'written' if options.pair else 'executed'}: {shown.relative_to(PROJECT_ROOT)}\n")
        except NotebookError as error:
            sys.stderr.write(f"{error}\n")
            failures += 1
    if not options.pair and not failures:
        sys.stdout.write("make site shows them with their output\n")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
