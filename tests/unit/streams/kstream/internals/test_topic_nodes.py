"""The nodes between a topology and its topics, under Kafka's names."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.internals import topic_nodes
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder


@pytest.fixture
def builder() -> KStreamBuilder:
    return KStreamBuilder().set_application_id("app")


def labels(builder: KStreamBuilder) -> list[list[str]]:
    return [[node.label for node in group.nodes] for group in builder.describe().subtopologies]


def test_a_repartition_topic_ends_a_subtopology_and_begins_the_next(builder: KStreamBuilder) -> None:
    name = topic_nodes.add_stream_source(builder, ["in"], None, None, None, None)
    source = topic_nodes.repartitioned(builder, name, "Counts", None, None)
    assert labels(builder) == [
        [
            "Source: KSTREAM-SOURCE-0000000000 (topics: [in])",
            "Processor: KSTREAM-FILTER-0000000002 (stores: [])",
            "Sink: KSTREAM-SINK-0000000001 (topic: Counts-repartition)",
        ],
        [f"Source: {source} (topics: [Counts-repartition])"],
    ]
    info = builder.topic_groups()
    assert info[0].sink_topics == info[1].source_topics == {"app-Counts-repartition"}


def test_the_topic_of_a_table_is_the_changelog_of_its_store(builder: KStreamBuilder) -> None:
    source, name, supplier = topic_nodes.add_table_source(builder, "cities", "Cities", None, None, None)
    assert labels(builder) == [[f"Source: {source} (topics: [cities])", f"Processor: {name} (stores: [Cities])"]]
    assert supplier.store_names == ("Cities",)
    assert builder.build(0).store_to_changelog_topic == {"Cities": "cities"}
    assert builder.topic_groups()[0].state_changelog_topics == {}


def test_a_serde_gives_both_directions_or_leaves_them_to_the_application() -> None:
    serde, no_serde = Serdes.string(), 7
    assert topic_nodes.serializer_of(serde) is serde.serializer
    assert topic_nodes.deserializer_of(serde) is serde.deserializer
    assert topic_nodes.serializer_of(None) is topic_nodes.deserializer_of(None) is None
    wrong: Any = no_serde
    with pytest.raises(TypeError):
        topic_nodes.serializer_of(wrong)
