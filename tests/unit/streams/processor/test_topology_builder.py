"""What can be declared, and the node groups, topics and nodes that follow from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.streams.errors import TaskIdFormatError, TopologyBuilderError
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig
from kafka_lite.streams.processor.internals.topology.quick_union import QuickUnion
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset, TopologyBuilder
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.task_id import TaskId


class Nothing(Processor[Any, Any]):
    def process(self, key: Any, value: Any) -> None:
        pass


def store(name: str, **options: Any) -> Any:
    return Stores.in_memory_key_value(name, **options)


def chain() -> TopologyBuilder:
    """source (topic-1, topic-2) -> processor with a store -> sink (out)"""
    builder = TopologyBuilder().set_application_id("app")
    builder.add_source("source", "topic-1", "topic-2").add_processor("processor", Nothing, "source")
    return builder.add_state_store(store("store"), "processor").add_sink("sink", "out", "processor")


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda b: b.add_source("source", "other"), "Processor source is already added."),
        (lambda b: b.add_source("new"), "at least one topic, or a pattern"),
        (lambda b: b.add_source("new", "t", pattern="t"), "at least one topic, or a pattern"),
        (lambda b: b.add_source("new", "topic-1"), "Topic topic-1 has already been registered by another source."),
        (lambda b: b.add_source("new", "t", "u", "t"), "Topic t has already been registered by another source."),
        (lambda b: b.add_source("new", pattern="topic-."), "Pattern topic-. will match a topic that has already"),
        (lambda b: b.add_processor("new", Nothing, "unknown"), "Parent processor unknown is not added yet."),
        (lambda b: b.add_processor("new", Nothing, "new"), "Processor new cannot be a parent of itself."),
        (lambda b: b.add_processor("new", Nothing, "sink"), "Sink sink cannot be a parent"),
        (lambda b: b.add_sink("sink", "other", "source"), "Processor sink is already added."),
        (lambda b: b.add_state_store(store("store")), "StateStore store is already added."),
        (lambda b: b.add_state_store(store("new"), "unknown"), "Processor unknown is not added yet."),
        (lambda b: b.add_state_store(store("new"), "source"), "cannot connect a state store new to a source node"),
        (lambda b: b.connect_processor_and_state_stores("processor", "new"), "StateStore new is not added yet."),
        (lambda b: b.connect_processors("source"), "At least two processors"),
        (lambda b: b.connect_processors("source", "new"), "Processor new is not added yet."),
    ],
)
def test_a_wrong_declaration_is_refused(declare: Callable[[TopologyBuilder], Any], message: str) -> None:
    with pytest.raises(TopologyBuilderError, match=f"Invalid topology building: .*{re.escape(message)}"):
        declare(chain())


def test_a_topic_that_matches_the_pattern_of_another_source_is_refused() -> None:
    builder = TopologyBuilder().add_source("logs", pattern="log-.*")
    builder.add_source("prefix-is-no-match", "my-log-1")
    with pytest.raises(TopologyBuilderError, match="Topic log-1 matches a Pattern already registered"):
        builder.add_source("new", "log-1")


def test_a_pattern_may_match_the_beginning_of_a_topic_with_a_source() -> None:
    chain().add_source("new", pattern="topic")


def test_a_supplier_must_be_callable() -> None:
    with pytest.raises(TypeError, match="the supplier must be a class or function"):
        chain().add_processor("new", Nothing(), "source")  # type: ignore[arg-type]


def test_nodes_are_grouped_by_edges_and_by_common_stores() -> None:
    builder = TopologyBuilder().set_application_id("app")
    for number in (3, 2, 1):
        builder.add_source(f"source-{number}", f"topic-{number}")
        builder.add_processor(f"processor-{number}", Nothing, f"source-{number}")
    assert list(builder.node_groups().values()) == [{f"source-{n}", f"processor-{n}"} for n in (1, 2, 3)]
    builder.add_state_store(store("shared"), "processor-1", "processor-3")
    assert builder.node_groups() == {
        0: {"source-1", "processor-1", "source-3", "processor-3"},
        1: {"source-2", "processor-2"},
    }
    builder.connect_processors("processor-2", "processor-3")
    assert list(builder.node_groups()) == [0]


def test_topics_of_node_groups_have_their_names_in_the_cluster() -> None:
    builder = TopologyBuilder().set_application_id("app")
    builder.add_source("a", "in").add_processor("b", Nothing, "a").add_internal_topic("by-key")
    builder.add_sink("c", "by-key", "b").add_source("d", "by-key").add_processor("e", Nothing, "d")
    builder.add_state_store(store("counts", log_config={"segment.bytes": "1024"}), "e")
    builder.add_state_store(store("scratch", logging_enabled=False), "e")
    builder.copartition_sources(["a", "d"])
    first, second = builder.topic_groups().values()
    assert (first.source_topics, first.sink_topics) == ({"in"}, {"app-by-key"})
    assert not first.repartition_source_topics
    assert second.source_topics == {"app-by-key"}
    assert second.repartition_source_topics == {"app-by-key": InternalTopicConfig("app-by-key", "delete")}
    [changelog] = second.state_changelog_topics.values()
    assert changelog.name == "app-counts-changelog"
    assert changelog.to_properties() == {"cleanup.policy": "compact", "segment.bytes": "1024"}
    assert builder.copartition_groups() == [{"in", "app-by-key"}]
    assert builder.build(1).store_to_changelog_topic == {"counts": "app-counts-changelog"}


def test_the_changelog_of_a_window_store_is_deleted_by_age_too() -> None:
    builder = TopologyBuilder().set_application_id("app").add_source("a", "in").add_processor("b", Nothing, "a")
    builder.add_state_store(Stores.in_memory_window("windows", 1000, log_config={"segment.ms": "7"}), "b")
    [changelog] = builder.topic_groups()[0].state_changelog_topics.values()
    assert changelog.to_properties(500) == {
        "cleanup.policy": "compact,delete",
        "retention.ms": "1500",
        "segment.ms": "7",
    }


def test_what_the_user_configures_takes_precedence_for_internal_topics() -> None:
    config = InternalTopicConfig("topic", "compact", {"cleanup.policy": "delete", "retention.ms": "7"}, 1000)
    assert config.to_properties(500) == {"cleanup.policy": "delete", "retention.ms": "7"}
    longest = InternalTopicConfig("topic", "delete", retention_ms=(1 << 63) - 2)
    assert longest.to_properties(500)["retention.ms"] == str((1 << 63) - 1)


def test_internal_topics_need_an_application_id() -> None:
    builder = TopologyBuilder().add_internal_topic("by-key").add_source("a", "by-key")
    with pytest.raises(TopologyBuilderError, match="application id hasn't been set"):
        builder.topic_groups()


def test_a_global_store_has_no_tasks_and_its_name_is_taken() -> None:
    builder = TopologyBuilder().set_application_id("app").add_source("a", "in").add_processor("b", Nothing, "a")
    supplier = store("places", logging_enabled=False)
    builder.add_global_store(supplier, "source", "places", "fill", Nothing)
    assert [info.source_topics for info in builder.topic_groups().values()] == [{"in"}]
    assert builder.source_topic_pattern().pattern == "in", "the group does not read it"
    with pytest.raises(TopologyBuilderError, match="StateStore places is already added"):
        builder.add_state_store(store("places"), "b")


def test_a_store_that_is_connected_twice_is_built_once() -> None:
    builder = chain().connect_processor_and_state_stores("processor", "store")
    assert str(builder.describe()).count("(stores: [store])") == 1


def test_a_source_topic_can_be_the_changelog_of_a_store() -> None:
    builder = chain().connect_source_store_and_topic("store", "topic-1")
    assert builder.build(0).store_to_changelog_topic == {"store": "topic-1"}
    with pytest.raises(TopologyBuilderError, match="Source store store is already added"):
        builder.connect_source_store_and_topic("store", "topic-2")


def test_built_nodes_are_connected_and_each_task_has_its_own() -> None:
    builder = chain()
    topology, other = builder.build(0), builder.build(0)
    assert [node.name for node in topology.processors] == ["source", "processor", "sink"]
    source = topology.source("topic-1")
    assert source is topology.source("topic-2")
    assert [child.name for child in source.children] == ["processor"]
    assert topology.sink_by_topic["out"] is source.children[0].children[0]
    assert [each.name for each in topology.state_stores] == ["store"]
    assert other.source("topic-1") is not source
    assert other.state_stores[0] is not topology.state_stores[0]
    assert other.processors[1].processor is not topology.processors[1].processor


def test_patterns_get_the_topics_that_exist() -> None:
    builder = TopologyBuilder().set_application_id("app")
    builder.add_source("exact", "a.b").add_source("logs", pattern=re.compile("log-.*"))
    pattern = builder.source_topic_pattern()
    assert [bool(pattern.fullmatch(topic)) for topic in ("a.b", "axb", "log-1", "my-log-1")] == [
        True,
        False,
        True,
        False,
    ]
    assert builder.topic_groups().keys() == {0}
    builder.update_subscriptions(["log-2", "log-1", "a.b"])
    assert builder.build(1).source_by_topic.keys() == {"log-1", "log-2"}
    builder.update_subscriptions(["log-2"])
    assert builder.topic_groups()[1].source_topics == {"log-2"}


def test_a_pattern_matches_whole_names() -> None:
    builder = TopologyBuilder().add_source("logs", pattern="log-[0-9]")
    builder.update_subscriptions(["log-1", "log-10", "my-log-1"])
    assert builder.topic_groups()[0].source_topics == {"log-1"}


def test_a_topic_that_two_patterns_match_is_refused() -> None:
    builder = TopologyBuilder().add_source("a", pattern="x.*").add_source("b", pattern=".*y")
    builder.update_subscriptions(["x", "y"])
    with pytest.raises(TopologyBuilderError, match=r"Topic xy is already matched for another regex pattern x\.\*"):
        builder.update_subscriptions(["xy"])


def test_offset_resets_are_those_of_the_source() -> None:
    builder = TopologyBuilder().set_application_id("app").add_internal_topic("inner")
    assert not builder.has_offset_resets
    builder.add_source("a", "t", offset_reset=AutoOffsetReset.EARLIEST).add_source("b", "u", pattern=None)
    builder.add_source("c", pattern="log-.*", offset_reset=AutoOffsetReset.LATEST)
    builder.add_source("d", "inner", offset_reset=AutoOffsetReset.EARLIEST)
    assert builder.has_offset_resets
    builder.add_source("e", pattern="[0-9]", offset_reset=AutoOffsetReset.LATEST)
    topics = ["t", "u", "log-7", "app-inner", "unknown", "10"]
    earliest, latest = AutoOffsetReset.EARLIEST, AutoOffsetReset.LATEST
    assert [builder.reset_of(topic) for topic in topics] == [earliest, None, latest, earliest, None, None]


def test_the_description_is_kafkas() -> None:
    builder = chain().add_source("logs", pattern="log-.*").add_processor("leaf", Nothing, "logs", "source")
    builder.add_source("zz", "alone").add_sink("copy", "away", "zz")
    assert str(builder.describe()) == (
        "Topologies:\n"
        "   Sub-topology: 0\n"
        "    Source: source (topics: [topic-1, topic-2])\n"
        "      --> processor, leaf\n"
        "    Source: logs (topics: log-.*)\n"
        "      --> leaf\n"
        "    Processor: processor (stores: [store])\n"
        "      --> sink\n"
        "      <-- source\n"
        "    Processor: leaf (stores: [])\n"
        "      --> none\n"
        "      <-- source, logs\n"
        "    Sink: sink (topic: out)\n"
        "      <-- processor\n"
        "\n"
        "  Sub-topology: 1\n"
        "    Source: zz (topics: [alone])\n"
        "      --> copy\n"
        "    Sink: copy (topic: away)\n"
        "      <-- zz\n"
        "\n"
    )


def test_task_ids_are_parsed_and_ordered() -> None:
    assert TaskId.parse("10_2") == TaskId(10, 2)
    assert str(TaskId(1, 3)) == "1_3"
    assert sorted([TaskId(1, 0), TaskId(0, 11), TaskId(0, 2)]) == [TaskId(0, 2), TaskId(0, 11), TaskId(1, 0)]
    for text in ("", "1", "_1", "1_", "1_x", "1_2_3", "-1_0"):
        with pytest.raises(TaskIdFormatError, match="Task id cannot be parsed correctly"):
            TaskId.parse(text)


def test_union_of_sets() -> None:
    union: QuickUnion[int] = QuickUnion()
    for number in range(8):
        union.add(number)
    union.unite(0, 1, 2)
    union.unite(5, 6)
    union.unite(6, 2)
    assert len({union.root(number) for number in (0, 1, 2, 5, 6)}) == 1
    assert len({union.root(number) for number in range(8)}) == 4
    assert 7 in union
    assert 8 not in union
    with pytest.raises(KeyError):
        union.root(8)
