"""The order of the labs, drawn from the key ``after`` of each ``lab.toml``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, ORANGE, Drawing, new_graph
from kafka_learn.labs.lab import Lab, all_labs
from kafka_learn.labs.way.lab_order import in_order

_FILL = {"easy": GREEN, "medium": BLUE, "hard": ORANGE}
_COLUMNS = 16
"""Characters of a line in a box; a Chinese one takes two."""
_WORD = re.compile(r"[!-~]+|\s+|.")


def way_through(language: str) -> str:
    """A box for each lab, coloured by its difficulty, and an arrow to each lab that comes after it."""
    labs = in_order(all_labs())
    graph = new_graph("LR")
    graph.attr(nodesep="0.08", ranksep="0.25")
    graph.attr("node", shape="box", style="rounded,filled", margin="0.06,0.04")
    for lab in labs:
        graph.node(lab.name, _label(lab, language), fillcolor=_FILL[lab.difficulty])
    for lab in labs:
        for before in lab.after:
            graph.edge(before, lab.name)
    return Drawing(graph, _in_words(labs, language)).svg()


def _label(lab: Lab, language: str) -> str:
    return "\n".join([lab.section, *_lines(lab.title_in(language))])


def _lines(title: str) -> Iterator[str]:
    """The title in lines that fit into a box. Words of the code are not broken, Chinese ones are."""
    line, width = "", 0
    for word in _WORD.findall(title):
        columns = len(word) if word.isascii() else 2
        if line and not word.isspace() and width + columns > _COLUMNS:
            yield line.rstrip()
            line, width = "", 0
        line += word
        width += columns
    yield line.rstrip()


def _in_words(labs: list[Lab], language: str) -> str:
    titles = {lab.name: lab.title_in(language) for lab in labs}
    joint, after = ("、", "{0}：先做{1}") if language == "zh" else (", ", "{0} comes after {1}")
    rows = [after.format(titles[lab.name], joint.join(titles[name] for name in lab.after)) for lab in labs if lab.after]
    return "; ".join(rows) if language == "en" else "；".join(rows)
