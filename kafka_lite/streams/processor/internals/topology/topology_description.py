"""A topology as text, in the format of Kafka's ``Topology.describe()``.

Drawing tools for Kafka Streams read this text. 0.10.2 cannot describe a topology yet; the format is that of Kafka 2 and
later.

Kafka 0.10.2: none; Kafka 1.0: streams/.../processor/internals/InternalTopologyBuilder.java (TopologyDescription)
· book 9.1.2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class NodeDescription:
    """A node, its first line, and the names of its parents."""

    name: str
    label: str
    predecessors: tuple[str, ...]
    topics: tuple[str, ...] = ()
    """The topics of a source (or its pattern) or of a sink."""
    stores: tuple[str, ...] = ()
    """The stores of a processor."""

    @property
    def kind(self) -> str:
        """``Source``, ``Processor`` or ``Sink``."""
        return self.label.partition(":")[0]


@dataclass(frozen=True)
class Subtopology:
    """The nodes of a node group."""

    id: int
    nodes: tuple[NodeDescription, ...]
    """Nodes above larger trees first, then by name."""
    successors: Mapping[str, tuple[str, ...]] = field(repr=False)
    """The names of children by the names of their parents, in the order of ``nodes``."""
    is_global: bool = False
    """Whether it belongs to a global store: each instance has it once, and it makes no tasks."""

    @cached_property
    def _places(self) -> dict[str, int]:
        return {node.name: place for place, node in enumerate(self.nodes)}

    def __str__(self) -> str:
        what = f"{self.id} for global store (will not generate tasks)" if self.is_global else f"{self.id}"
        return f"Sub-topology: {what}\n" + "".join(f"    {self._lines(node)}\n" for node in self.nodes) + "\n"

    def _lines(self, node: NodeDescription) -> str:
        lines = [node.label]
        if node.kind != "Sink":
            lines.append(f"      --> {', '.join(self.successors[node.name]) or 'none'}")
        if node.kind != "Source":
            predecessors = sorted(node.predecessors, key=self._places.__getitem__)
            lines.append(f"      <-- {', '.join(predecessors) or 'none'}")
        return "\n".join(lines)


@dataclass(frozen=True)
class TopologyDescription:
    """All sub-topologies."""

    subtopologies: tuple[Subtopology, ...]

    def __str__(self) -> str:
        return "Topologies:\n " + "".join(f"  {subtopology}" for subtopology in self.subtopologies)


def describe_subtopology(number: int, nodes: Iterable[NodeDescription], is_global: bool = False) -> Subtopology:
    """Order the nodes, and connect each to its children."""
    children: dict[str, list[NodeDescription]] = {}
    by_name = {node.name: node for node in nodes}
    for node in by_name.values():
        for parent in node.predecessors:
            children.setdefault(parent, []).append(node)

    def size(name: str) -> int:
        """The nodes that can be reached from a node, with itself; one counts once for each way to it."""
        return 1 + sum(size(child.name) for child in children.get(name, ()))

    sizes = {name: size(name) for name in by_name}
    ordered = sorted(by_name.values(), key=lambda node: (-sizes[node.name], node.name))
    successors = {
        node.name: tuple(child.name for child in ordered if node.name in child.predecessors) for node in ordered
    }
    return Subtopology(number, tuple(ordered), successors, is_global)
