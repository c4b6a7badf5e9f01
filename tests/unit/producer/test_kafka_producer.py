"""``send`` in the caller's thread, without the producer's own thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.clients import client_utils
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.clients.metadata import TOPIC_EXPIRY_MS, Metadata
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.serialization import SerializationError
from kafka_lite.common.time import MockTime
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_interceptors import ProducerInterceptor
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata
from kafka_lite.producer.sender import Sender
from tests.support.mock_selector import MockSelector

NODE = Node(0, "h", 1)


class WaitingTime(MockTime):
    """Does something whenever a thread waits."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], None] = lambda: None

    def wait(self, condition: threading.Condition, timeout_ms: float) -> bool:
        del condition, timeout_ms
        self.meanwhile()
        return True


@pytest.fixture
def no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sockets, too."""
    monkeypatch.setattr(Sender, "start", lambda _self: None)
    monkeypatch.setattr(client_utils, "Selector", lambda **_: MockSelector(MockTime()))


@pytest.mark.usefixtures("no_thread")
def test_a_topic_does_not_expire_while_its_metadata_is_awaited() -> None:
    time = WaitingTime()
    configs = {"bootstrap.servers": "127.0.0.1:1", "max.block.ms": 10 * TOPIC_EXPIRY_MS}
    producer = KafkaProducer(configs, time=time)
    metadata: Metadata = producer._metadata
    steps = iter(range(10))

    def answer() -> None:
        time.sleep(TOPIC_EXPIRY_MS / 2)
        assert "late" in metadata.topics(), "a metadata request without the topic never learns of it"
        partitions = (PartitionInfo("late", 0, NODE),) if next(steps) == 6 else ()
        metadata.update(Cluster((NODE,), partitions), time.hi_res_ms())

    time.meanwhile = answer
    producer.send(ProducerRecord("late", b"v"))
    assert next(steps) == 7
    assert time.hi_res_ms() > 3 * TOPIC_EXPIRY_MS


class Heard(ProducerInterceptor):
    errors: list[Exception | None]

    def __init__(self) -> None:
        Heard.errors = []

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        del metadata
        self.errors.append(error)


@pytest.mark.usefixtures("no_thread")
@pytest.mark.parametrize(
    ("record", "error", "counts"),
    [
        (ProducerRecord("t", "text"), SerializationError, 1),
        (ProducerRecord("t", b"v", headers=[("\ud800", b"")]), SerializationError, 1),
        (ProducerRecord("t", b"v", partition=0, headers=[("h", b"")]), None, 0),
    ],
)
def test_refused_records_are_counted_and_reported_to_interceptors(
    record: ProducerRecord, error: type[Exception] | None, counts: int
) -> None:
    configs: dict[str, Any] = {"bootstrap.servers": "127.0.0.1:1", "interceptor.classes": f"{__name__}.Heard"}
    producer = KafkaProducer(configs, time=MockTime())
    producer._metadata.update(Cluster((NODE,), (PartitionInfo("t", 0, NODE),)), 0)
    if error is None:
        producer.send(record)
    else:
        with pytest.raises(error):
            producer.send(record)
    assert [type(each) for each in Heard.errors] == [error] * counts
    failed = [metric.value for name, metric in producer.metrics().items()
              if (name.name, name.group) == ("record-error-total", "producer-metrics")]  # fmt: skip
    assert failed == [counts]


@pytest.mark.usefixtures("no_thread")
@pytest.mark.parametrize(
    ("refused", "error"),
    [("unauthorized_topics", Errors.TOPIC_AUTHORIZATION_FAILED), ("invalid_topics", Errors.INVALID_TOPIC_EXCEPTION)],
)
def test_a_topic_that_the_broker_refuses_is_not_waited_for(refused: str, error: Errors) -> None:
    time = WaitingTime()
    producer = KafkaProducer({"bootstrap.servers": "127.0.0.1:1", "max.block.ms": 60_000}, time=time)
    answer = Cluster((NODE,), (), **{refused: frozenset({"secret"})})
    time.meanwhile = lambda: producer._metadata.update(answer, time.hi_res_ms())
    with pytest.raises(ApiError) as raised:
        producer.send(ProducerRecord("secret", b"v")).get(0)
    assert raised.value.error is error
    assert time.hi_res_ms() < 60_000


@pytest.mark.parametrize("topic", ["", None, 5, b"t"])
def test_a_record_needs_the_name_of_a_topic(topic: Any) -> None:
    with pytest.raises(ValueError, match="a record needs the name of a topic, not"):
        ProducerRecord(topic, b"v")
