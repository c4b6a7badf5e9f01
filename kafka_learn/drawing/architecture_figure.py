"""The layers of the project, drawn from the import contract that CI enforces."""

from __future__ import annotations

import math
import tomllib

from kafka_learn.drawing.graphviz_drawing import BLUE, Drawing, cell, new_graph, table
from kafka_learn.project import PROJECT_ROOT


def layers(language: str) -> str:
    """One row per layer of kafka_lite; upper layers may use lower ones."""
    return _layers_in("kafka_lite", language)


def server_floors(language: str) -> str:
    """The same inside of ``server``, whose modules and folders are its parts."""
    return _layers_in("kafka_lite.server", language)


def log_floors(language: str) -> str:
    """The same inside of ``log``."""
    return _layers_in("kafka_lite.log", language)


def consumer_floors(language: str) -> str:
    """The same inside of ``consumer``."""
    return _layers_in("kafka_lite.consumer", language)


def streams_floors(language: str) -> str:
    """The same inside of ``streams``."""
    return _layers_in("kafka_lite.streams", language)


def _layers_in(container: str, language: str) -> str:
    contracts = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layered = next(contract for contract in contracts["contracts"] if contract.get("containers") == [container])
    rows = [[part.strip() for part in row.split("|")] for row in layered["layers"]]
    widest = math.lcm(*(len(row) for row in rows))
    cells = [[cell(part, fill=BLUE, columns=widest // len(row)) for part in row] for row in rows]
    graph = new_graph()
    graph.node("layers", table(cells))
    return Drawing(graph, "Layers, top to bottom: " + "; ".join(", ".join(row) for row in rows)).svg(language)
