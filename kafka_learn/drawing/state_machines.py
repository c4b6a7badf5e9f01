"""Every state machine of the project, drawn from the table that its code consults.

Modules with a ``VALID_PREVIOUS_STATES`` table are found by their source, so a new state machine gets its figure
automatically.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import textwrap
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from kafka_learn.drawing.graphviz_drawing import BLUE, Drawing, new_graph
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import module_path

TABLE = "VALID_PREVIOUS_STATES"

Table = Mapping[Any, Iterable[Any]]
"""State → the states from which it can be reached; Any, because each machine has its own Enum."""


def modules_with_a_table() -> list[str]:
    """The names of the broker's modules that define such a table."""
    found = []
    for path in sorted((PROJECT_ROOT / "kafka_lite").rglob("*.py")):
        module = ".".join(path.relative_to(PROJECT_ROOT).with_suffix("").parts)
        if _defines_table(path.read_text(encoding="utf-8")):
            found.append(module)
    return found


def _defines_table(source: str) -> bool:
    if TABLE not in source:
        return False
    targets = (node.target for node in ast.parse(source).body if isinstance(node, ast.AnnAssign))
    return any(isinstance(target, ast.Name) and target.id == TABLE for target in targets)


def draw_states(
    table: Table, labels: Mapping[tuple[Any, Any], str] | None = None, *, rank_direction: str = "LR"
) -> Drawing:
    """Draw one arrow per transition that the table allows, including those from a state to itself.

    ``labels``: (from, to) → the words on that arrow. Raises ValueError for a transition that the table does not allow.
    """
    labels = labels or {}
    if wrong := [(before, after) for before, after in labels if before not in table[after]]:
        raise ValueError(f"the table allows no transition from {wrong[0][0]} to {wrong[0][1]}")
    graph = new_graph(rank_direction)
    graph.attr("node", shape="box", style="rounded,filled", fillcolor=BLUE, margin="0.12,0.06")
    for state in table:
        graph.node(state.name)
    for state, previous in table.items():
        for before in sorted(previous, key=lambda other: other.name):
            graph.edge(before.name, state.name, label=labels.get((before, state)))
    changes = "; ".join(f"to {state.name} from {', '.join(sorted(s.name for s in table[state]))}" for state in table)
    return Drawing(graph, changes)


def state_docs(states: type[Enum]) -> dict[str, str]:
    """State name → the docstring below it in the enum's source."""
    tree = ast.parse(module_path(states.__module__).read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == states.__name__)
    docs = {}
    for state, following in itertools.pairwise(body):
        if isinstance(state, ast.Assign) and isinstance(following, ast.Expr) and isinstance(state.targets[0], ast.Name):
            docs[state.targets[0].id] = " ".join(str(ast.literal_eval(following.value)).split())
    return docs


def page(language: str) -> str:
    """All state machines as Markdown: each with its figure and the meaning of its states."""
    return "\n\n".join(_section(module, language) for module in modules_with_a_table())


def _section(module: str, language: str) -> str:
    table: Table = getattr(importlib.import_module(module), TABLE)
    states = type(next(iter(table)))
    docs = state_docs(states)
    rows = [f"`{state.name}`\n:   {docs[state.name]}" for state in table if state.name in docs]
    drawn = f'<figure class="drawing">\n{draw_states(table).svg(language)}\n</figure>'
    about = _as_markdown(inspect.getdoc(states) or "")
    return "\n\n".join([f"## {states.__name__}", about, f"In `{module}`.", drawn, *rows])


def _as_markdown(docstring: str) -> str:
    """A class's docstring as Markdown: lists stay lists, other text keeps the source's layout."""
    about, _, more = docstring.partition("\n\n")
    if not more or more.startswith("- "):
        return docstring.replace("``", "`")
    return f"{about}\n\n```text\n{textwrap.dedent(more.removeprefix('::')).strip()}\n```"
