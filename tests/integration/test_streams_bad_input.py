"""Bad records in a running application: it goes on without them if its handlers say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.serialization import LongDeserializer, LongSerializer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.streams.exception_handlers import (
    HandlerResponse,
    LogAndContinueExceptionHandler,
    ProductionExceptionHandler,
)
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.word_count import configs_of


class Continue(ProductionExceptionHandler):
    def handle(self, record: ProducerRecord, error: Exception) -> HandlerResponse:
        return HandlerResponse.CONTINUE


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        for topic in ("numbers", "texts", "numbers-copied", "texts-copied"):
            running.create_topic(topic, 1)
        yield running


def test_an_application_goes_on_without_bad_records(cluster: Cluster, tmp_path: Path) -> None:
    builder = TopologyBuilder().add_source("numbers", "numbers", value_deserializer=LongDeserializer())
    builder.add_sink("copied", "numbers-copied", "numbers", value_serializer=LongSerializer())
    builder.add_source("texts", "texts").add_sink("texts-copied", "texts-copied", "texts")
    numbers = [bytes(8), b"not a number", bytes(7) + b"\1"]
    for value in numbers:
        cluster.produce("numbers", value, key="k")
    for text in ("small", "x" * 2000, "last"):
        cluster.produce("texts", text, key="k")
    configs = configs_of(cluster.bootstrap_servers, tmp_path)
    configs["default.deserialization.exception.handler"] = LogAndContinueExceptionHandler
    configs["default.production.exception.handler"] = Continue
    configs["max.request.size"] = 1000
    with KafkaStreams(builder, configs) as streams:
        streams.start()
        eventually(lambda: cluster.values("numbers-copied") == [numbers[0], numbers[2]])
        eventually(lambda: cluster.values("texts-copied") == [b"small", b"last"])
        eventually(lambda: streams.state is State.RUNNING)
