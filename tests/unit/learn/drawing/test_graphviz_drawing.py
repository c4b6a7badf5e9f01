"""A drawing of Graphviz shrinks as long as it can be read."""

import re

from kafka_learn.drawing.graphviz_drawing import Drawing, new_graph


def test_a_drawing_shrinks_until_its_text_is_twelve_pixels():
    graph = new_graph("LR")
    graph.edge("Empty", "PreparingRebalance", label="a member joins")
    svg = Drawing(graph, "two states").svg()
    assert {float(size) for size in re.findall(r'font-size="([\d.]+)"', svg)} == {12.0}  # points: 16 pixels
    assert re.search(r'style="width:(\d+)px;min-width:calc\(\1px \* 0\.750\)"', svg)
