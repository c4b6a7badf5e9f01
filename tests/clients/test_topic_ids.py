"""Clients that fetch by the ids of topics, as librdkafka 2.16 does."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.testing import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s

TOPIC = "again"
SENT = re.compile(r"Sent (\w+)Request \(v(\d+)")


class SentVersions(logging.Handler):
    """The requests that librdkafka's debugging log tells of."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: set[tuple[str, int]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        found = SENT.search(record.getMessage())
        if found is not None:
            self.sent.add((found[1], int(found[2])))


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


def test_librdkafka_reads_a_topic_that_was_made_again_from_its_beginning(cluster: Cluster) -> None:
    servers, versions = cluster.bootstrap_servers, SentVersions()
    logger = logging.Logger("librdkafka", logging.DEBUG)
    logger.addHandler(versions)
    admin, producer = AdminClient({"bootstrap.servers": servers}), Producer({"bootstrap.servers": servers})
    consumer = Consumer(
        {
            "bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest", "debug": "protocol",
            "topic.metadata.refresh.interval.ms": 500,
        },
        logger=logger,
    )  # fmt: skip
    consumer.subscribe([TOPIC])
    for values in ([b"a0", b"a1", b"a2"], [b"b0"]):
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(patient_s(30))
        for value in values:
            producer.produce(TOPIC, value)
        assert producer.flush(patient_s(30)) == 0
        read: list[bytes] = []

        def has_read_all(read: list[bytes] = read, values: list[bytes] = values) -> bool:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                read.append(message.value())
            return read == values

        eventually(has_read_all)
        admin.delete_topics([TOPIC])[TOPIC].result(patient_s(30))
    consumer.close()
    assert max(version for name, version in versions.sent if name == "Fetch") >= 13
