"""A reader's own functions in a broker of the live cluster: those whose tasks are green in the labs' pages.

Not in Kafka. The page of the live cluster has what the labs' pages keep (``docs/assets/labs/store.mjs``), in the format
that ``labs import`` reads. As in a clone, the functions are merged over the shipped modules::

    own_modules(exported, folder)   {"files": {module: path}, "functions": 5, "notes": ["…"]}
    LivePage(link, {1: files})      broker 1 loads these files
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kafka_learn.labs.in_page.importing import exported_labs, take_over
from kafka_learn.labs.lab import UnknownLabError, find_lab
from kafka_learn.labs.own.own_kafka import own_kafka
from kafka_learn.labs.workspace import LabWorkspace


def own_modules(exported: str, folder: Path) -> dict[str, Any]:
    """Write the merged modules into a folder; returns their files, how many functions are the reader's, and notes.

    Raises ImportLabsError for a text that no page has exported.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "kafka-lite-labs.json"
    file.write_text(exported, encoding="utf-8")
    workspaces = []
    for name, row in exported_labs(file).items():
        try:
            workspace = LabWorkspace(find_lab(name), folder / "work" / name)
        except UnknownLabError:
            continue  # of another version of the site
        take_over(workspace, row)
        workspaces.append(workspace)
    if not workspaces:
        return {"files": {}, "functions": 0, "notes": []}
    own = own_kafka(workspaces)
    files = {module: str(path) for module, path in own.write(folder).items()}
    return {"files": files, "functions": own.written, "notes": list(own.notes)}
