"""A topology as a drawing: SVG that needs no other program, or source for Graphviz.

Kafka 0.10.2: none; ``Topology.describe()`` of later versions has text only · book 9.1.2
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_lite.streams.processor.internals.topology.topology_description import (
    NodeDescription,
    Subtopology,
    TopologyDescription,
)

TOPIC, STORE = "Topic", "Store"
_FILLS = {
    "Source": "#2faf5f55",
    "Processor": "#3f7fff44",
    "Sink": "#ff9a2f66",
    TOPIC: "none",
    STORE: "#80808022",
}
_CHARACTER, _HEIGHT, _ROW, _GAP, _MARGIN = 7.3, 30.0, 62.0, 26.0, 20.0

Id = tuple[str, str]
"""The kind and name of what is drawn: a topic and a node may have the same name."""


@dataclass
class _Box:
    """A node, topic or store, with the centre where it is drawn."""

    id: Id
    x: float = 0.0
    row: int = 0

    @property
    def width(self) -> float:
        return len(self.id[1]) * _CHARACTER + (28 if self.id[0] == TOPIC else 18)

    @property
    def y(self) -> float:
        return self.row * _ROW + _HEIGHT / 2 + _MARGIN


@dataclass
class _Group:
    """A sub-topology: its rows of boxes, with stores beside one of the processors that use them."""

    id: int
    rows: list[list[_Box]]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    first_row: int = 0
    column: int = 0

    @property
    def width(self) -> float:
        return max(_reach_of(row) for row in self.rows) * 2 + 2 * _MARGIN

    @property
    def last_row(self) -> int:
        return self.first_row + len(self.rows) - 1


class TopologyDrawing:
    """Draws topics as pills, sub-topologies as frames with their nodes, and stores beside their processors.

    Records flow downwards. A sub-topology stands below those that write its repartition topics.
    """

    def __init__(self, description: TopologyDescription) -> None:
        self._description = description
        self._edges = list(_edges(description))
        self._groups = [_group_of(each) for each in description.subtopologies]
        self._topics = self._place()
        self._boxes = {box.id: box for group in self._groups for row in group.rows for box in row} | {
            box.id: box for box in self._topics
        }

    # ── the layout ────────────────────────────────────────────────────────────────────────────────────────────────

    def _place(self) -> list[_Box]:
        """Give each group its rows and column, and each box its place. Returns the topics."""
        self._stack()
        lefts = self._columns()
        for group in self._groups:
            left = lefts[group.column]
            middle = left + group.width / 2
            for number, row in enumerate(group.rows):
                _spread(row, middle)
                for box in row:
                    box.row = group.first_row + number
        nodes = {box.id[1]: box for group in self._groups for row in group.rows for box in row if box.id[0] != STORE}
        return self._topic_boxes(nodes)

    def _stack(self) -> None:
        """Put each group below the groups that write its topics, as far as they do not write each other's."""
        placed: list[_Group] = []
        waiting = list(self._groups)
        while waiting:
            free = [each for each in waiting if not _writers(each, [other for other in waiting if other is not each])]
            group = (free or waiting)[0]
            waiting.remove(group)
            above = _writers(group, placed)
            group.first_row = max((writer.last_row + 2 for writer in above), default=1)
            overlapping = {other.column for other in placed if _overlap(group, other)}
            group.column = next(column for column in range(len(placed) + 1) if column not in overlapping)
            placed.append(group)

    def _columns(self) -> list[float]:
        """The left edge of each column."""
        lefts = [_MARGIN]
        for column in range(max((group.column for group in self._groups), default=-1) + 1):
            widest = max(group.width for group in self._groups if group.column == column)
            lefts.append(lefts[-1] + widest + _GAP)
        return lefts

    def _topic_boxes(self, nodes: Mapping[str, _Box]) -> list[_Box]:
        """A topic stands above the group that reads it, or below those that only write it."""
        reader = {topic: group for group in self._groups for topic in group.reads}
        by_row: dict[int, list[_Box]] = {}
        for topic in dict.fromkeys(topic for group in self._groups for topic in (*group.reads, *group.writes)):
            if topic in reader:
                row = reader[topic].first_row - 1
            else:
                row = 1 + max(group.last_row for group in self._groups if topic in group.writes)
            ends = [nodes[name] for name in _neighbours(self._description, topic, only_readers=topic in reader)]
            box = _Box((TOPIC, topic), sum(end.x for end in ends) / len(ends), row)
            by_row.setdefault(row, []).append(box)
        for boxes in by_row.values():
            boxes.sort(key=lambda box: box.x)
            edge = float("-inf")
            for box in boxes:
                box.x = max(box.x, edge + box.width / 2)
                edge = box.x + box.width / 2 + _GAP
        return [box for boxes in by_row.values() for box in boxes]

    # ── the drawing ───────────────────────────────────────────────────────────────────────────────────────────────

    def svg(self) -> str:
        """One ``<svg>`` element. Lines and words have the colour of the text around it."""
        parts = [*map(self._frame, self._groups), *(self._arrow(*edge) for edge in self._edges)]
        parts += map(_drawn, self._boxes.values())
        left = min((box.x - box.width / 2 for box in self._boxes.values()), default=0) - _MARGIN
        right = max((box.x + box.width / 2 for box in self._boxes.values()), default=0) + _MARGIN
        right = max([right, *(self._right_of(group) + _MARGIN for group in self._groups)])
        left = min([left, *(self._left_of(group) - _MARGIN for group in self._groups)])
        height = max((box.y for box in self._boxes.values()), default=0) + _HEIGHT / 2 + _MARGIN
        size = (
            f'viewBox="{left:.0f} 0 {right - left:.0f} {height:.0f}" style="width:{right - left:.0f}px;max-width:100%"'
        )
        label = html.escape("; ".join(f"{a[1]} to {b[1]}" for a, b in self._edges))
        opening = f'<svg role="img" xmlns="http://www.w3.org/2000/svg" aria-label="{label}" {size}'
        font = 'font-family="ui-monospace, Courier New, monospace" font-size="12" fill="currentColor"'
        return "\n".join([f"{opening} {font}>", *parts, "</svg>"])

    def _repr_svg_(self) -> str:
        """The drawing in a notebook."""
        return self.svg()

    def dot(self) -> str:
        """The source of the same drawing for Graphviz."""
        shapes = {TOPIC: "oval", STORE: "cylinder"}
        lines = ["digraph topology {", '  node [shape=box, style=filled, fontname="Courier New", fontsize=12];']
        for group in self._groups:
            lines += [f"  subgraph cluster_{group.id} {{", f'    label="Sub-topology: {group.id}";']
            lines += [f"    {_dot_node(box.id, shapes)}" for row in group.rows for box in row]
            lines.append("  }")
        lines += [f"  {_dot_node(box.id, shapes)}" for box in self._topics]
        for start, end in self._edges:
            lines.append(f"  {_dot_name(start)} -> {_dot_name(end)}{' [dir=none, style=dashed]' * (end[0] == STORE)};")
        return "\n".join([*lines, "}"])

    def _left_of(self, group: _Group) -> float:
        return min(box.x - box.width / 2 for row in group.rows for box in row) - _MARGIN

    def _right_of(self, group: _Group) -> float:
        return max(box.x + box.width / 2 for row in group.rows for box in row) + _MARGIN / 2

    def _frame(self, group: _Group) -> str:
        left, right = self._left_of(group), self._right_of(group)
        top = group.rows[0][0].y - _HEIGHT / 2 - _MARGIN / 2
        height = group.rows[-1][0].y + _HEIGHT / 2 + _MARGIN / 2 - top
        frame = f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{height:.1f}" rx="8"'
        style = 'fill="none" stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="3 4"/>'
        return f'{frame} {style}<text x="{left + 6:.1f}" y="{top + 15:.1f}" opacity="0.7">{group.id}</text>'

    def _arrow(self, start: Id, end: Id) -> str:
        source, target = self._boxes[start], self._boxes[end]
        if target.id[0] == STORE:
            line = _line_to_store(source, target)
            return f'<path d="{line}" fill="none" stroke="currentColor" stroke-dasharray="2 3"/>'
        y1, y2 = source.y + _HEIGHT / 2, target.y - _HEIGHT / 2
        bend = (y2 - y1) / 2
        line = f"M{source.x:.1f} {y1:.1f} C{source.x:.1f} {y1 + bend:.1f} {target.x:.1f} {y2 - bend:.1f} "
        line += f"{target.x:.1f} {y2 - 5:.1f}"
        head = f"M{target.x - 4:.1f} {y2 - 7:.1f} L{target.x:.1f} {y2:.1f} L{target.x + 4:.1f} {y2 - 7:.1f} Z"
        return f'<path d="{line}" fill="none" stroke="currentColor"/><path d="{head}"/>'


def _edges(description: TopologyDescription) -> Iterable[tuple[Id, Id]]:
    """Topic to source, node to child, sink to topic, processor to store."""
    for subtopology in description.subtopologies:
        kinds = {node.name: node.kind for node in subtopology.nodes}
        for node in subtopology.nodes:
            own = (node.kind, node.name)
            if node.kind == "Source":
                yield from (((TOPIC, topic), own) for topic in node.topics)
            yield from ((own, (kinds[child], child)) for child in subtopology.successors[node.name])
            if node.kind == "Sink":
                yield from ((own, (TOPIC, topic)) for topic in node.topics)
            yield from ((own, (STORE, store)) for store in node.stores)


def _group_of(subtopology: Subtopology) -> _Group:
    """Rows by the longest way from a source; in a row, children in the order of their parents."""
    by_name = {node.name: node for node in subtopology.nodes}
    depths: dict[str, int] = {}

    def depth(node: NodeDescription) -> int:
        if node.name not in depths:
            depths[node.name] = 1 + max((depth(by_name[parent]) for parent in node.predecessors), default=-1)
        return depths[node.name]

    rows: list[list[_Box]] = []
    for node in sorted(subtopology.nodes, key=depth):
        rows.extend([] for _ in range(depths[node.name] + 1 - len(rows)))
        rows[depths[node.name]].append(_Box((node.kind, node.name)))
    places: dict[str, float] = {}
    owners: dict[str, NodeDescription] = {}
    for node in sorted(subtopology.nodes, key=lambda node: (depth(node), len(node.stores))):
        for store in node.stores:
            owners.setdefault(store, node)
    for row in rows:
        row.sort(key=lambda box: _mean([places[parent] for parent in by_name[box.id[1]].predecessors]))
        for place, box in enumerate(list(row)):
            places[box.id[1]] = place
            node = by_name[box.id[1]]
            at = row.index(box) + 1
            row[at:at] = [_Box((STORE, store)) for store in node.stores if owners[store] is node]
    reads = tuple(topic for node in subtopology.nodes if node.kind == "Source" for topic in node.topics)
    writes = tuple(topic for node in subtopology.nodes if node.kind == "Sink" for topic in node.topics)
    return _Group(subtopology.id, rows, reads, writes)


def _neighbours(description: TopologyDescription, topic: str, *, only_readers: bool) -> list[str]:
    """The names of the sources that read a topic, or else of the sinks that write it."""
    nodes = (node for subtopology in description.subtopologies for node in subtopology.nodes if topic in node.topics)
    return [node.name for node in nodes if (node.kind == "Source") is only_readers]


def _writers(group: _Group, others: Iterable[_Group]) -> list[_Group]:
    return [other for other in others if not set(other.writes).isdisjoint(group.reads)]


def _overlap(one: _Group, other: _Group) -> bool:
    """Whether two groups, with the topics above and below them, have rows in common."""
    return (
        one.first_row - 1 <= other.last_row + 1
        and other.first_row - 1 <= one.last_row + 1
        and not (_writers(one, [other]) and one.first_row > other.last_row)
    )


def _spread(row: Sequence[_Box], middle: float) -> None:
    """Put boxes side by side, the nodes (without stores at the ends) in the middle."""
    x = 0.0
    for box in row:
        box.x = x + box.width / 2
        x += box.width + _GAP
    nodes = [box for box in row if box.id[0] != STORE]
    shift = middle - (nodes[0].x - nodes[0].width / 2 + nodes[-1].x + nodes[-1].width / 2) / 2
    for box in row:
        box.x += shift


def _reach_of(row: Sequence[_Box]) -> float:
    """How far a row reaches from the middle, on the side where it reaches farther."""
    _spread(row, 0.0)
    return max(abs(box.x) + box.width / 2 for box in row)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _drawn(box: _Box) -> str:
    kind, name = box.id
    left, top = box.x - box.width / 2, box.y - _HEIGHT / 2
    radius = {TOPIC: _HEIGHT / 2, STORE: 10.0}.get(kind, 3.0)
    shape = f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{_HEIGHT:.0f}" rx="{radius:.0f}"'
    text = f'<text x="{box.x:.1f}" y="{box.y + 4:.1f}" text-anchor="middle">{html.escape(name)}</text>'
    return f'{shape} fill="{_FILLS[kind]}" stroke="currentColor"/>{text}'


def _line_to_store(node: _Box, store: _Box) -> str:
    """Straight to a store beside the node; to another one from below the row of the upper of the two."""
    if node.row == store.row and abs(store.x - node.x) <= (node.width + store.width) / 2 + _GAP + 1:
        side = 1 if store.x > node.x else -1
        return (
            f"M{node.x + side * node.width / 2:.1f} {node.y:.1f} L{store.x - side * store.width / 2:.1f} {store.y:.1f}"
        )
    upper, lower = sorted((node, store), key=lambda box: box.row)
    y1, bend = upper.y + _HEIGHT / 2, _ROW - _HEIGHT
    y2, end_bend = (lower.y - _HEIGHT / 2, -bend) if lower.row > upper.row else (lower.y + _HEIGHT / 2, bend)
    start, end = f"{upper.x:.1f} {y1 + bend:.1f}", f"{lower.x:.1f} {y2 + end_bend:.1f}"
    return f"M{upper.x:.1f} {y1:.1f} C{start} {end} {lower.x:.1f} {y2:.1f}"


def _dot_name(box: Id) -> str:
    return '"' + f"{box[0]} {box[1]}".replace("\\", "\\\\").replace('"', '\\"') + '"'


def _dot_node(box: Id, shapes: Mapping[str, str]) -> str:
    kind, name = box
    label = name.replace("\\", "\\\\").replace('"', '\\"')
    fill = "transparent" if _FILLS[kind] == "none" else _FILLS[kind]
    return f'{_dot_name(box)} [label="{label}", shape={shapes.get(kind, "box")}, fillcolor="{fill}"];'
