"""``kafka-lite labs import FILE``: takes what was written in the site's pages over into the clone.

The file is what a page's *Export* downloads::

    {"format": "kafka_lite labs 1",
     "labs": {"ch06-timing-wheel": {"files": {"kafka_lite.common…": "the module's text"},
                                    "tasks": [{"number": 1, "mark": "✓", "earned": 15, "total": 15}, …],
                                    "hints": {"2": 1}, "checks": 7, "at_hand": 2,
                                    "solution": 40}}}      how many points one had when one saw it, or -1

Points are not taken over: only a check in the clone gives them, with the broker. Anybody can write such a file, so it
is read as far as it makes sense: names of labs, modules and tasks that are known, texts, small numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from kafka_learn.labs.lab import Lab, UnknownLabError, find_lab
from kafka_learn.labs.way.standing import DONE
from kafka_learn.labs.way.verbs import add_verb
from kafka_learn.labs.way.way_words import word
from kafka_learn.labs.workspace import LabWorkspace, Progress
from kafka_lite.tools.common.terminal import own_command

FORMAT: Final = "kafka_lite labs 1"
MOST_BYTES: Final = 16 << 20
MOST: Final = 1_000_000
"""The largest number that is taken over."""


class ImportLabsError(ValueError):
    """The file is none that a page has exported."""


def add_import(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "import", "take over what you have written in the site's pages", _import)
    parser.add_argument("file", type=Path, help="the file that the button Export of a page has downloaded")


def _import(options: argparse.Namespace) -> int:
    language, console = "zh" if options.zh else "en", Console(highlight=False)
    try:
        labs = exported_labs(options.file)
    except (OSError, ImportLabsError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for name, row in labs.items():
        try:
            lab = find_lab(name)
        except UnknownLabError as error:
            sys.stderr.write(f"{error}\n")
            continue
        workspace = LabWorkspace(lab)
        kept = take_over(workspace, row)
        console.print(word("imported", language, lab=lab.name, folder=workspace.folder))
        if kept is not None:
            console.print(word("kept", language, folder=kept))
        console.print(f"{word('next', language)} [bold]{own_command()} labs check {lab.name}[/]")
    return 0


def exported_labs(path: Path) -> dict[str, dict[str, Any]]:
    """The labs of a file that have texts, by name. Raises OSError, ImportLabsError."""
    if path.stat().st_size > MOST_BYTES:
        raise ImportLabsError(f"{path} is too large: a page exports less than {MOST_BYTES >> 20} MiB")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ImportLabsError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("labs"), dict):
        raise ImportLabsError(f"{path} was not exported by a lab's page: it does not say {FORMAT!r}")
    return {name: row for name, row in found["labs"].items() if isinstance(row, dict) and _texts(row)}


def take_over(workspace: LabWorkspace, row: Mapping[str, Any]) -> Path | None:
    """Write the texts and the progress; returns the folder to which existing work was moved, if it was another."""
    lab, kept = workspace.lab, None
    texts = {module: text for module, text in _texts(row).items() if module in lab.modules}
    if not workspace.started:
        workspace.start()
    elif any(path.read_text(encoding="utf-8") != texts.get(name) for name, path in workspace.existing_files().items()):
        kept = workspace.reset()
    for module, path in workspace.files().items():
        if module in texts:
            path.write_text(texts[module], encoding="utf-8")
    workspace.remember(_with_progress(workspace.progress(), lab, row))
    return kept


def _texts(row: Mapping[str, Any]) -> dict[str, str]:
    files = row.get("files")
    rows = files.items() if isinstance(files, dict) else ()
    return {module: text for module, text in rows if isinstance(text, str)}


def _with_progress(progress: Progress, lab: Lab, row: Mapping[str, Any]) -> Progress:
    numbers = {task.number for task in lab.tasks}
    found = row.get("tasks")
    tasks = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    tasks = [each for each in tasks if each.get("number") in numbers]
    progress.tasks_passed = sorted({each["number"] for each in tasks if each.get("mark") == DONE})
    progress.task_points = {
        str(each["number"]): [_number(each.get("earned")), _number(each.get("total"))] for each in tasks
    }
    hints = row.get("hints")
    for number, count in hints.items() if isinstance(hints, dict) else ():
        if number.isdecimal() and int(number) in numbers:
            most = len(lab.task(int(number)).hints)
            progress.hints[number] = min(most, max(progress.hints.get(number, 0), _number(count)))
    progress.checks += _number(row.get("checks"))
    seen_at = row.get("solution")
    if type(seen_at) is int and seen_at >= 0 > progress.solution_seen_at:
        progress.solution_seen_at = _number(seen_at)
    progress.at_hand = at_hand if (at_hand := _number(row.get("at_hand"))) in numbers else 0
    return progress


def _number(value: Any) -> int:
    return min(max(value, 0), MOST) if isinstance(value, int) and not isinstance(value, bool) else 0
