"""Every mistake of a producer's user ends with an error that says what to do, and never with a hang."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from kafka_lite import old_producer
from kafka_lite.clients.cluster import Cluster as MetadataCluster
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.serialization import IntegerSerializer, SerializationError, StringSerializer
from kafka_lite.old_producer import KeyedMessage
from kafka_lite.old_producer.default_event_handler import FailedToSendMessageError
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.producer.buffer_pool import BlockingInCallbackError, ProducerClosedError
from kafka_lite.producer.partitioner import Partitioner
from kafka_lite.producer.producer_interceptors import ProducerInterceptor
from kafka_lite.producer.producer_record import RecordMetadata
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s

TIMEOUT_S = 30.0
"""Of what must not hang: long, for it is only waited for when a test fails."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"auto.create.topics.enable": "false", "message.max.bytes": "100000"}) as cluster:
        cluster.create_topic("t")
        cluster.create_topic("other")
        yield cluster


@pytest.fixture
def producer(cluster: Cluster) -> Iterator[KafkaProducer]:
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        yield producer


@pytest.fixture
def impatient(cluster: Cluster) -> Iterator[KafkaProducer]:
    """A producer that already knows the topic, and does not wait for metadata of others."""
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "max.block.ms": 500}) as producer:
        for _ in range(60):
            with contextlib.suppress(ApiError):
                producer.partitions_for("t")
                break
        yield producer


class Outcomes:
    """A callback that keeps its arguments, after it has done something wrong."""

    def __init__(self, misdeed: Callable[[], object] = lambda: None) -> None:
        self.calls: list[tuple[RecordMetadata | None, Exception | None]] = []
        self.raised: BaseException | None = None
        self.done = threading.Event()
        self._misdeed = misdeed

    def __call__(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        self.calls.append((metadata, error))
        try:
            self._misdeed()
        except BaseException as raised:
            self.raised = raised
            raise
        finally:
            self.done.set()

    def wait(self) -> None:
        assert self.done.wait(patient_s(TIMEOUT_S)), "the callback was not called or has not returned"


# ── Arguments of send ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_closed_producer_raises(cluster: Cluster) -> None:
    producer = KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.close()
    with pytest.raises(ProducerClosedError, match="create another one"):
        producer.send(ProducerRecord("t", b"v"))
    with pytest.raises(ProducerClosedError):
        producer.partitions_for("nobody-knows-it")
    assert producer.flush(), "there is nothing to wait for"
    producer.close()


def test_send_with_a_topic_and_a_value_says_what_send_takes(producer: KafkaProducer) -> None:
    with pytest.raises(TypeError, match="send takes a ProducerRecord, not a str"):
        producer.send("t", b"v")  # type: ignore[arg-type]


@pytest.mark.parametrize("record", ["t", None, ("t", b"v")])
def test_send_without_a_record_raises(producer: KafkaProducer, record: Any) -> None:
    with pytest.raises(TypeError, match=r"send takes a ProducerRecord, not a (str|NoneType|tuple)"):
        producer.send(record)


def test_a_callback_that_is_not_callable_raises(producer: KafkaProducer) -> None:
    callback: Any = "done"
    with pytest.raises(TypeError, match=r"called as callback\(metadata, error\), but a str is not callable"):
        producer.send(ProducerRecord("t", b"v"), callback)


@pytest.mark.parametrize("configs", [None, "localhost:9092"])
def test_a_missing_configuration_raises(configs: Any) -> None:
    with pytest.raises(
        TypeError, match=r"KafkaProducer takes its configuration as a dict, such as .* not (None|a str)"
    ):
        KafkaProducer(configs)


@pytest.mark.parametrize("serializer", [str.encode, StringSerializer])
def test_an_invalid_serializer_raises(serializer: Any) -> None:
    with pytest.raises(TypeError, match="value_serializer must be an object derived from Serializer"):
        KafkaProducer({"bootstrap.servers": "localhost:1"}, value_serializer=serializer)


def test_a_header_name_that_cannot_be_encoded_raises(producer: KafkaProducer) -> None:
    with pytest.raises(SerializationError, match=r"t: the record has text that cannot be encoded: .*surrogates"):
        producer.send(ProducerRecord("t", b"v", headers=[("half \ud800", b"")]))
    assert producer.send(ProducerRecord("t", b"v", headers=[("\U00010000", b"")])).get(1000 * patient_s(30)).has_offset


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"topic": None}, "needs the name of a topic"),
        ({"topic": ""}, "needs the name of a topic"),
        ({"topic": b"t"}, "needs the name of a topic"),
        ({"timestamp": -1}, "milliseconds since 1970"),
        ({"timestamp": 1.5}, "milliseconds since 1970"),
        ({"timestamp": 1 << 63}, "milliseconds since 1970"),
        ({"partition": -1}, "from 0 on"),
        ({"partition": "0"}, "from 0 on"),
        ({"headers": {"name": b"value"}}, "list of pairs"),
        ({"headers": [("name", "text")]}, "list of pairs"),
        ({"headers": [(b"name", b"value")]}, "list of pairs"),
        ({"headers": "ab"}, "list of pairs"),
    ],
)
def test_invalid_records_raise(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ProducerRecord(**{"topic": "t", "value": b"v", **given})


def test_values_of_a_wrong_type_fail(cluster: Cluster, producer: KafkaProducer) -> None:
    with pytest.raises(SerializationError, match=r"a str is not bytes: encode it, or set key\.serializer"):
        producer.send(ProducerRecord("t", "text"))
    configs = {"bootstrap.servers": cluster.bootstrap_servers}
    with KafkaProducer(configs, IntegerSerializer(), StringSerializer()) as other:
        with pytest.raises(SerializationError, match="a bytes is not a str"):
            other.send(ProducerRecord("t", b"bytes", 1))
        with pytest.raises(SerializationError, match="'key'"):
            other.send(ProducerRecord("t", "text", "key"))
        assert other.send(ProducerRecord("t", "text", 1)).get(1000 * patient_s(30)).has_offset, (
            "and the producer remains usable"
        )


def test_a_record_that_is_too_large_fails(cluster: Cluster, producer: KafkaProducer) -> None:
    outcomes = Outcomes()
    error = producer.send(ProducerRecord("t", bytes(2 << 20)), outcomes).exception()
    assert isinstance(error, ApiError)
    assert error.error is Errors.MESSAGE_TOO_LARGE
    assert "larger than max.request.size=1048576" in str(error)
    assert outcomes.calls == [(None, error)]
    error = producer.send(ProducerRecord("t", bytes(200_000))).exception(1000 * patient_s(30))
    assert isinstance(error, ApiError)
    assert error.error is Errors.MESSAGE_TOO_LARGE, "the broker's error for a record above its limit"
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "buffer.memory": 50_000}) as small:
        assert "buffer.memory=50000" in str(small.send(ProducerRecord("t", bytes(60_000))).exception())


def test_a_partition_that_does_not_exist_fails(impatient: KafkaProducer) -> None:
    error = impatient.send(ProducerRecord("t", b"v", partition=7)).exception(1000 * patient_s(30))
    assert "Partition 7 of topic t with partition count 1 is not present in metadata after 500 ms" in str(error)


def test_a_topic_that_does_not_exist_fails(impatient: KafkaProducer) -> None:
    error = impatient.send(ProducerRecord("nobody-knows-it", b"v")).exception(1000 * patient_s(30))
    assert "Topic nobody-knows-it not present in metadata after 500 ms" in str(error)


def test_an_invalid_topic_name_does_not_affect_other_topics(impatient: KafkaProducer) -> None:
    for name in ("\ud800", "x" * 32768):
        assert "is not valid: it has 1 to 249" in str(impatient.send(ProducerRecord(name, b"v")).exception(0))
    # Possibly not at once: the first attempts may time out after 500 ms without metadata.
    eventually(lambda: impatient.send(ProducerRecord("other", b"v")).exception(1000 * patient_s(30)) is None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_producer_in_a_forked_process_raises(producer: KafkaProducer) -> None:
    """The sender thread does not exist there: a caller that waits would wait for ever."""
    producer.send(ProducerRecord("t", b"parent")).get(1000 * patient_s(30))
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        signal.alarm(int(TIMEOUT_S))  # so that it does not outlive the test
        for misdeed in (lambda: producer.send(ProducerRecord("t", b"child")), producer.flush, producer.close):
            try:
                misdeed()
                os.write(writer, b"-;")
            except ProducerClosedError as error:
                os.write(writer, f"{error};".encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as told:
        send, flush, close, _ = told.read().split(";")
    os.waitpid(child, 0)
    assert (
        send == flush == "This process was forked without the producer's thread: create a new producer after the fork"
    )
    assert close == "-"
    producer.send(ProducerRecord("t", b"parent")).get(1000 * patient_s(30))


def test_an_invalid_topic_fails(producer: KafkaProducer) -> None:
    error = producer.send(ProducerRecord("no topic!", b"v")).exception(1000 * patient_s(30))
    assert isinstance(error, ApiError)
    assert error.error is Errors.INVALID_TOPIC_EXCEPTION
    assert "1 to 249 ASCII letters" in str(error)


# ── Callbacks run in the producer's thread, and must not break it ─────────────────────────────────────────────────


@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(1), KeyboardInterrupt()])
def test_a_callback_that_raises_is_logged(
    producer: KafkaProducer, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def misdeed() -> None:
        raise error

    producer.send(ProducerRecord("t", b"1"), Outcomes(misdeed))
    assert producer.send(ProducerRecord("t", b"2")).get(1000 * patient_s(30)).has_offset
    assert producer.send(ProducerRecord("t", b"3")).get(1000 * patient_s(30)).has_offset
    assert "Error executing user-provided callback" in caplog.text


def test_a_callback_may_send(producer: KafkaProducer) -> None:
    second = Outcomes()
    first = Outcomes(lambda: producer.send(ProducerRecord("t", b"again"), second))
    producer.send(ProducerRecord("t", b"v"), first)
    second.wait()
    assert first.raised is None
    assert second.calls[0][0] is not None


def blocked(producer: KafkaProducer, misdeed: Callable[[], object]) -> BlockingInCallbackError:
    """The error that a callback gets that does this."""
    outcomes = Outcomes(misdeed)
    producer.send(ProducerRecord("t", b"v"), outcomes)
    outcomes.wait()
    assert isinstance(outcomes.raised, BlockingInCallbackError)
    assert "Do this in another thread" in str(outcomes.raised)
    assert producer.send(ProducerRecord("t", b"after")).get(1000 * patient_s(30)).has_offset, (
        "and the producer remains usable"
    )
    return outcomes.raised


def test_a_callback_that_waits_for_metadata_gets_an_error(cluster: Cluster) -> None:
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        assert "metadata of topic other" in str(blocked(producer, lambda: producer.send(ProducerRecord("other", b"v"))))
        blocked(producer, lambda: producer.partitions_for("nobody-knows-it"))


def test_a_callback_that_waits_for_a_future_gets_an_error(producer: KafkaProducer) -> None:
    blocked(producer, producer.flush)
    blocked(producer, lambda: producer.send(ProducerRecord("t", b"v")).get())


def test_a_callback_that_waits_for_memory_gets_an_error(cluster: Cluster) -> None:
    configs = {
        "bootstrap.servers": cluster.bootstrap_servers, "buffer.memory": 4000, "batch.size": 1000, "linger.ms": 60_000
    }  # fmt: skip
    with KafkaProducer(configs) as producer:
        error = blocked_when_full(producer)
    assert "buffer.memory is 4000" in str(error)


def blocked_when_full(producer: KafkaProducer) -> BaseException | None:
    outcomes = Outcomes(lambda: [producer.send(ProducerRecord("t", bytes(900))) for _ in range(5)])
    producer.send(ProducerRecord("t", b"v"), outcomes)
    producer.flush(1000 * patient_s(30))
    outcomes.wait()
    assert isinstance(outcomes.raised, BlockingInCallbackError)
    return outcomes.raised


def test_a_callback_may_close_the_producer(cluster: Cluster) -> None:
    producer = KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 60_000})
    closing = Outcomes(producer.close)
    others = [Outcomes() for _ in range(20)]
    producer.send(ProducerRecord("t", b"v"), closing)
    futures: list[Any] = []
    with contextlib.suppress(ProducerClosedError):  # the callback may come before the last of them are sent
        futures.extend(producer.send(ProducerRecord("t", bytes(10_000)), each) for each in others)
    closing.wait()
    producer.close()
    assert all(future.done() for future in futures)
    assert [len(each.calls) for each in others[: len(futures)]] == [1] * len(futures)
    with pytest.raises(ProducerClosedError):
        producer.send(ProducerRecord("t", b"v"))


# ── Classes of the user ───────────────────────────────────────────────────────────────────────────────────────────


class ChoosesWhatThereIsNot(Partitioner):
    choices: ClassVar[list[Any]] = []

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: MetadataCluster) -> int:
        return self.choices.pop()


class ForgetsToReturn(ProducerInterceptor):
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        pass


class MakesText(StringSerializer):
    def serialize(self, topic: str, data: str | None) -> Any:
        return data


def test_a_partitioner_that_returns_a_missing_partition_fails_the_record(cluster: Cluster) -> None:
    ChoosesWhatThereIsNot.choices = [0, "0", -1, 1]
    configs = {"bootstrap.servers": cluster.bootstrap_servers, "partitioner.class": f"{__name__}.ChoosesWhatThereIsNot"}
    with KafkaProducer(configs) as producer:
        for choice in ("1", "-1", "'0'"):
            says = f"ChoosesWhatThereIsNot chose partition {choice} for topic t, whose partitions are 0 to 0"
            with pytest.raises(ValueError, match=says):
                producer.send(ProducerRecord("t", b"v"))
        assert producer.send(ProducerRecord("t", b"v")).get(1000 * patient_s(30)).partition == 0


def test_an_interceptor_that_returns_none_is_ignored(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    configs = {"bootstrap.servers": cluster.bootstrap_servers, "interceptor.classes": f"{__name__}.ForgetsToReturn"}
    with KafkaProducer(configs) as producer:
        assert producer.send(ProducerRecord("t", b"v")).get(1000 * patient_s(30)).has_offset, (
            "the original record is sent"
        )
    assert "ForgetsToReturn.on_send returned None" in caplog.text


def test_a_serializer_that_returns_no_bytes_fails_the_record(cluster: Cluster) -> None:
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}, value_serializer=MakesText()) as producer:
        with pytest.raises(TypeError):
            producer.send(ProducerRecord("t", "text"))
        assert producer.flush(1000 * patient_s(30)), "its memory is released"


# ── Configuration ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("configs", "says"),
    [
        ({}, "bootstrap.servers"),
        ({"bootstrap.servers": None}, "it has no value"),
        ({"bootstrap.servers": "localhost"}, "host:port"),
        ({"linger.ms": None}, "leave it out"),
        ({"linger.ms": -1}, "linger.ms"),
        ({"linger.ms": "soon"}, "Not a number"),
        ({"acks": "2"}, "must be one of"),
        ({"compression.type": "zip"}, "must be one of"),
        ({"max.in.flight.requests.per.connection": 0}, "at least 1"),
        ({"key.serializer": "no.such.Class"}, "package.module.Class"),
        ({"client.id": "\ud800"}, "valid unicode of at most 32767 bytes"),
        ({"client.id": "x" * 32768}, "valid unicode of at most 32767 bytes"),
        ({"metric.reporters": "kafka_lite.producer.kafka_producer.KafkaProducer"}, "is not a MetricsReporter"),
        ({"enable.idempotence": True, "acks": 1}, "needs acks=all"),
    ],
)
def test_invalid_values_raise(configs: dict[str, object], says: str) -> None:
    before = set(threading.enumerate())
    with pytest.raises(ConfigError, match=says):
        KafkaProducer({"bootstrap.servers": "127.0.0.1:9092", **configs} if configs else {})
    assert set(threading.enumerate()) <= before


def test_an_unknown_key_is_warned_about(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "linger.msec": 5}).close()
    assert (
        "'linger.msec' was supplied but isn't a known config of the producer. Did you mean 'linger.ms'?" in caplog.text
    )


# ── The old producer ──────────────────────────────────────────────────────────────────────────────────────────────


def old(cluster: Cluster, **configs: object) -> old_producer.Producer:
    given = {key.replace("_", "."): value for key, value in configs.items()}
    return old_producer.Producer({
        "metadata.broker.list": cluster.bootstrap_servers, "request.required.acks": 1, "retry.backoff.ms": 1,
        "message.send.max.retries": 1, **given,
    })  # fmt: skip


def test_misuse_of_the_old_producer(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    with old(cluster) as producer:
        with pytest.raises(TypeError, match="send takes KeyedMessages, not a str"):
            producer.send("text")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="needs the name of a topic"):
            KeyedMessage("", b"v")
        with pytest.raises(TypeError, match=r"a str is not bytes: encode it, or set serializer\.class"):
            producer.send(KeyedMessage("t", "text"))
        with pytest.raises(FailedToSendMessageError, match="after 1 tries: topics t"):
            producer.send(KeyedMessage("t", bytes(200_000)))
        assert "MESSAGE_TOO_LARGE" in caplog.text
        with pytest.raises(FailedToSendMessageError, match="topics no topic!"):
            producer.send(KeyedMessage("no topic!", b"v"))
        assert "INVALID_TOPIC_EXCEPTION" in caplog.text
        with pytest.raises(FailedToSendMessageError):
            producer.send(KeyedMessage("t", b"v", part_key=1.5))
        assert "set partitioner.class" in caplog.text
        producer.send(KeyedMessage("t", b"v"))
    with pytest.raises(Exception, match="already closed: create another one"):
        producer.send(KeyedMessage("t", b"v"))


@pytest.mark.parametrize(
    ("configs", "says"),
    [
        ({"producer_type": "asynchronous"}, "must be one of"),
        ({"batch_num_messages": 20_000}, "can't be larger than"),
        ({"request_required_acks": 2}, "no more than 1"),
        ({"serializer_class": "kafka.serializer.StringEncoder"}, "package.module.Class"),
        ({"compression_codec": None}, "it has no value"),
    ],
)
def test_invalid_values_for_the_old_producer_raise(cluster: Cluster, configs: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        old(cluster, **configs)
