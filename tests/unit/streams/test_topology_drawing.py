"""Where a drawing puts what a topology has."""

from __future__ import annotations

from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.topology_drawing import TopologyDrawing, _Box


def placed(builder: TopologyBuilder) -> dict[tuple[str, str], _Box]:
    return TopologyDrawing(builder.set_application_id("app").describe())._boxes


def join() -> KStreamBuilder:
    """A stream with a new key joins two joined tables, and is counted."""
    builder = KStreamBuilder()
    tables = builder.table("users", "Users").join(builder.table("regions", "Regions"), lambda one, other: (one, other))
    joined = builder.stream("clicks").map(lambda key, value: (value, key)).join(tables, lambda one, other: (one, other))
    joined.group_by(lambda key, _: key).count("Counts").to("out")
    joined.to("raw")
    return builder


def test_records_flow_downwards() -> None:
    builder = join()
    drawing = TopologyDrawing(builder.set_application_id("app").describe())
    for start, end in drawing._edges:
        if end[0] != "Store":
            assert drawing._boxes[start].row < drawing._boxes[end].row, (start, end)


def test_no_two_boxes_overlap() -> None:
    boxes = list(placed(join()).values())
    for number, box in enumerate(boxes):
        for other in boxes[:number]:
            apart = abs(box.x - other.x) >= (box.width + other.width) / 2
            assert box.row != other.row or apart, (box, other)


def test_a_store_stands_beside_the_processor_that_uses_no_other() -> None:
    boxes = placed(join())
    for store, processor in (("Users", "KTABLE-SOURCE-0000000001"), ("Regions", "KTABLE-SOURCE-0000000003")):
        assert boxes["Store", store].row == boxes["Processor", processor].row
        assert boxes["Store", store].x > boxes["Processor", processor].x


def test_sub_topologies_without_common_topics_stand_side_by_side() -> None:
    builder = KStreamBuilder()
    builder.stream("a").to("b")
    builder.stream("c").to("d")
    boxes = placed(builder)
    assert boxes["Topic", "a"].row == boxes["Topic", "c"].row
    assert boxes["Topic", "a"].x != boxes["Topic", "c"].x


def test_sub_topologies_that_write_each_others_topics_are_drawn() -> None:
    class Copy(Processor[bytes, bytes]):
        def process(self, key: bytes, value: bytes) -> None:
            self.context.forward(key, value)

    builder = TopologyBuilder().add_source("one", "a").add_source("two", "b")
    builder.add_processor("copy", Copy, "one").add_sink("to b", "b", "copy").add_sink("to a", "a", "two")
    assert set(placed(builder)) == {
        ("Topic", "a"), ("Topic", "b"), ("Source", "one"), ("Source", "two"), ("Processor", "copy"), ("Sink", "to b"),
        ("Sink", "to a"),
    }  # fmt: skip


def test_names_are_escaped() -> None:
    builder = TopologyBuilder().add_source('<"&>', pattern="a<b")
    drawing = TopologyDrawing(builder.set_application_id("app").describe())
    assert "&lt;&quot;&amp;&gt;" in drawing.svg()
    assert "a&lt;b" in drawing.svg()
    assert '"Source <\\"&>" [label="<\\"&>"' in drawing.dot()


def test_an_empty_topology_is_an_empty_drawing() -> None:
    assert "<rect" not in TopologyDrawing(TopologyBuilder().describe()).svg()
