"""Kafka 0.10.2 has no transactions: an application that asks for exactly once ends there, and says what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.real_kafka import OLD, real_kafka

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def bootstrap_servers(jvm: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_kafka(OLD, tmp_path_factory.mktemp("old")) as address:
        with KafkaProducer({"bootstrap.servers": address}) as producer:
            producer.send(ProducerRecord("lines", b"1")).get(1000 * patient_s(60))
        yield address


@pytest.mark.parametrize(
    ("guarantee", "needed"), [("exactly_once", "Kafka 0.11 or later"), ("exactly_once_v2", "Kafka 2.5 or later")]
)
def test_exactly_once_says_which_brokers_it_needs(
    bootstrap_servers: str, guarantee: str, needed: str, tmp_path: Path
) -> None:
    builder = KStreamBuilder()
    builder.stream("lines").to("copies")
    errors: list[Exception] = []
    configs = {
        "application.id": f"of-{guarantee}",
        "bootstrap.servers": bootstrap_servers,
        "state.dir": str(tmp_path),
        "processing.guarantee": guarantee,
    }
    with KafkaStreams(builder, configs) as streams:
        streams.set_uncaught_exception_handler(lambda _, error: errors.append(error))
        streams.start()
        eventually(lambda: streams.state is State.ERROR, lambda: streams.state, timeout_s=120)
    (error,) = errors
    assert f"processing.guarantee={guarantee} requires brokers of {needed}" in str(error)
