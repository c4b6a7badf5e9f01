"""The configuration of an application, and what of it the clients get."""

from __future__ import annotations

import logging
import os
from typing import Any
from uuid import UUID

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.serdes import IntegerSerde, Serde, StringSerde
from kafka_lite.common.serialization import SerializationError
from kafka_lite.streams.kstream.windowed_serde import SessionKeySerde, WindowedSerde
from kafka_lite.streams.processor.timestamp_extractor import LogAndSkipOnInvalidTimestamp
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.windowed import SessionWindow, TimeWindow, UnlimitedWindow, Windowed

MINIMUM: dict[str, object] = {"application.id": "app", "bootstrap.servers": "localhost:9092"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("application.id", ""),
        ("cache.max.bytes.buffering", -1),
        ("num.standby.replicas", -1),
        ("processing.guarantee", "at_most_once"),
        ("application.server", "no-port"),
        ("enable.auto.commit", True),
        ("num.stream.threads", 0),
        ("key.serde", "no.such.Serde"),
        ("value.serde", LogAndSkipOnInvalidTimestamp),
        ("timestamp.extractor", StringSerde),
    ],
)
def test_an_unusable_value_is_refused(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        StreamsConfig({**MINIMUM, key: value})


@pytest.mark.parametrize("missing", MINIMUM)
def test_required_keys(missing: str) -> None:
    with pytest.raises(ConfigError, match=missing.replace(".", r"\.")):
        StreamsConfig({key: value for key, value in MINIMUM.items() if key != missing})


def test_classes_and_their_names() -> None:
    config = StreamsConfig({
        **MINIMUM,
        "key.serde": IntegerSerde,
        "value.serde": "kafka_lite.common.serdes.StringSerde",
        "timestamp.extractor": LogAndSkipOnInvalidTimestamp,
    })  # fmt: skip
    assert isinstance(config.key_serde(), IntegerSerde)
    assert isinstance(config.value_serde(), StringSerde)
    assert isinstance(config.timestamp_extractor(), LogAndSkipOnInvalidTimestamp)


def test_serdes_are_configured() -> None:
    config = StreamsConfig({**MINIMUM, "value.serde": StringSerde, "value.serializer.encoding": "utf-16-be"})
    assert config.value_serde().serializer.serialize("t", "a") == b"\0a"


TEXT = "kafka_lite.common.serdes.StringSerde"


@pytest.mark.parametrize("serde", [WindowedSerde, SessionKeySerde])
@pytest.mark.parametrize("of", ["key", "value"])
def test_a_windowed_serde_finds_the_one_inside_it(
    serde: type[Serde[Windowed[str]]], of: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = f"default.windowed.{of}.serde.inner"
    config = StreamsConfig({**MINIMUM, f"{of}.serde": serde, name: TEXT, f"{of}.serializer.encoding": "utf-16-be"})
    made = config.key_serde() if of == "key" else config.value_serde()
    session = Windowed("a", SessionWindow(3, 5))
    raw = made.serializer.serialize("topic", session)
    assert raw is not None
    assert raw.startswith(b"\0a"), "the inner one is configured, too"
    assert raw.endswith((3).to_bytes(8))
    assert made.deserializer.deserialize("topic", raw).window.start == 3
    assert name not in caplog.text, "it is known"
    for wrong in ({}, {name: ""}, {name: "no.such.Serde"}, {name: "kafka_lite.common.serialization.StringSerializer"}):
        with pytest.raises(ConfigError, match=name.replace(".", r"\.")):
            StreamsConfig({**MINIMUM, f"{of}.serde": serde, **wrong})


@pytest.mark.parametrize("prefix", ["key.", ""])
def test_the_names_of_0_10_2_for_what_is_inside_a_windowed_serde(prefix: str, caplog: pytest.LogCaptureFixture) -> None:
    text = "kafka_lite.common.serialization.String"
    config = StreamsConfig({
        **MINIMUM,
        "key.serde": WindowedSerde,
        f"{prefix}serializer.inner.class": f"{text}Serializer",
        f"{prefix}deserializer.inner.class": f"{text}Deserializer",
        "default.windowed.key.serde.inner": "kafka_lite.common.serdes.LongSerde",  # the others say it more precisely
    })  # fmt: skip
    raw = config.key_serde().serializer.serialize("topic", Windowed("a", TimeWindow(3, 5)))
    assert raw == b"a" + (3).to_bytes(8)
    assert config.key_serde().deserializer.deserialize("topic", raw) == Windowed("a", UnlimitedWindow(3))
    assert not caplog.records, "they are known"
    with pytest.raises(ConfigError, match=r"serializer\.inner\.class: is not a Serializer"):
        StreamsConfig({**config.originals, f"{prefix}serializer.inner.class": TEXT})


def test_what_a_windowed_serde_was_given_stays() -> None:
    serde, configs = WindowedSerde(StringSerde()), {"default.windowed.key.serde.inner": "no.such.Serde"}
    serde.serializer.configure(configs, is_key=True)
    serde.deserializer.configure(configs, is_key=True)
    raw = serde.serializer.serialize("topic", Windowed("a", TimeWindow(3, 5)))
    assert serde.deserializer.deserialize("topic", raw) == Windowed("a", UnlimitedWindow(3))


def test_a_windowed_serde_with_nothing_inside_says_so() -> None:
    serde: WindowedSerde[str] = WindowedSerde()
    with pytest.raises(SerializationError, match="topic: a windowed serde has neither got an inner one nor been conf"):
        serde.serializer.serialize("topic", Windowed("a", TimeWindow(3, 5)))
    with pytest.raises(SerializationError, match="topic: a windowed serde has neither"):
        serde.deserializer.deserialize("topic", bytes(9))


def test_clients_get_their_keys() -> None:
    config = StreamsConfig({
        **MINIMUM,
        "session.timeout.ms": 7000,
        "linger.ms": 0,
        "consumer.retry.backoff.ms": 11,
        "producer.retry.backoff.ms": 22,
        "group.id": "another",
    })  # fmt: skip
    consumer: dict[str, Any] = config.consumer_configs("me", object(), has_resets=False)  # type: ignore[arg-type]
    restore, producer = config.restore_consumer_configs("me"), config.producer_configs("me")
    assert (consumer["group.id"], consumer["client.id"]) == ("app", "me-consumer")
    assert (consumer["enable.auto.commit"], consumer["auto.offset.reset"]) == (False, "earliest")
    assert (consumer["session.timeout.ms"], consumer["retry.backoff.ms"]) == (7000, 11)
    assert consumer["internal.leave.group.on.close"] is False
    assert "group.id" not in restore
    assert restore["client.id"] == "me-restore-consumer"
    assert (producer["linger.ms"], producer["retry.backoff.ms"]) == (0, 22)
    assert "session.timeout.ms" not in producer
    with_resets = config.consumer_configs("me", object(), has_resets=True)  # type: ignore[arg-type]
    assert with_resets["auto.offset.reset"] == "none"


def test_the_admin_client_is_protected_as_the_others_are() -> None:
    secured = {"security.protocol": "SSL", "ssl.truststore.location": "ca.pem", "linger.ms": 0}
    config = StreamsConfig({**MINIMUM, **secured, "client.id": "all", "admin.request.timeout.ms": 5})
    assert config.admin_configs("me") == {
        "bootstrap.servers": config["bootstrap.servers"],
        "client.id": "me",
        "security.protocol": "SSL",
        "ssl.truststore.location": "ca.pem",
        "request.timeout.ms": 5,
    }
    assert config.producer_configs("me")["security.protocol"] == "SSL"


def test_what_clients_of_streams_cannot_be_told() -> None:
    config = StreamsConfig({
        **MINIMUM,
        "auto.offset.reset": "latest",
        "group.instance.id": "one",
        "retry.backoff.ms": 33,
        "producer.retry.backoff.ms": 22,
    })  # fmt: skip
    consumer: dict[str, Any] = config.consumer_configs("me", object(), has_resets=False)  # type: ignore[arg-type]
    restore = config.restore_consumer_configs("me")
    assert (consumer["auto.offset.reset"], consumer["group.instance.id"]) == ("latest", "one")
    assert restore["auto.offset.reset"] == "none", "records that a store has missed are not skipped in silence"
    assert "group.instance.id" not in restore, "it has no group"
    assert (consumer["max.poll.interval.ms"], consumer["max.poll.records"]) == (0x7FFFFFFF, 1000)
    assert (consumer["retry.backoff.ms"], config.producer_configs("me")["retry.backoff.ms"]) == (33, 22)
    assert config.producer_configs("me")["linger.ms"] == 100
    with pytest.raises(ConfigError, match=r"enable\.auto\.commit"):
        StreamsConfig({**MINIMUM, "consumer.enable.auto.commit": True})


EXACTLY_ONCE: dict[str, object] = {**MINIMUM, "processing.guarantee": "exactly_once"}


def test_exactly_once_sets_keys_of_the_clients() -> None:
    config = StreamsConfig(EXACTLY_ONCE)
    context: Any = object()
    assert config["commit.interval.ms"] == 100
    assert config.consumer_configs("me", context, has_resets=False)["isolation.level"] == "read_committed"
    assert config.restore_consumer_configs("me")["isolation.level"] == "read_committed"
    producer = config.task_producer_configs("me", TaskId(1, 2))
    assert (producer["transactional.id"], producer["client.id"]) == ("app-1_2", "me-1_2-producer")
    assert producer["enable.idempotence"] is True
    assert StreamsConfig({**EXACTLY_ONCE, "commit.interval.ms": 7})["commit.interval.ms"] == 7


V2: dict[str, object] = {**MINIMUM, "processing.guarantee": "exactly_once_v2"}


def test_exactly_once_v2_has_a_producer_for_each_thread() -> None:
    config, context = StreamsConfig(V2), Any
    assert config["commit.interval.ms"] == 100
    consumer = config.consumer_configs("me", context, has_resets=False)  # type: ignore[arg-type]
    assert consumer["isolation.level"] == "read_committed"
    assert consumer["internal.throw.on.fetch.stable.offset.unsupported"] is True
    assert config.ends_consumer_configs("me")["isolation.level"] == "read_uncommitted"
    producer = config.thread_producer_configs("me", UUID(int=5), "StreamThread-12")
    assert producer["transactional.id"] == f"app-{UUID(int=5)}-12"
    assert producer["transaction.timeout.ms"] == 10_000
    patient = StreamsConfig({**V2, "producer.transaction.timeout.ms": 20_000})
    assert patient.thread_producer_configs("me", UUID(int=5), "StreamThread-1")["transaction.timeout.ms"] == 20_000


def test_exactly_once_v2_refuses_transactions_that_are_shorter_than_the_commit_interval() -> None:
    with pytest.raises(ConfigError, match=r"transaction\.timeout\.ms.*less than commit\.interval\.ms 10001"):
        StreamsConfig({**V2, "commit.interval.ms": 10_001})
    StreamsConfig({**V2, "commit.interval.ms": 10_001, "transaction.timeout.ms": 10_001})
    StreamsConfig({**V2, "commit.interval.ms": -1})


def test_a_guarantee_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"processing\.guarantee"):
        StreamsConfig({**MINIMUM, "processing.guarantee": "exactly_once_v3"})


@pytest.mark.parametrize("guarantee", ["exactly_once", "exactly_once_v2"])
@pytest.mark.parametrize(
    "key", ["isolation.level", "consumer.isolation.level", "enable.idempotence", "producer.transactional.id"]
)
def test_exactly_once_refuses_keys_that_it_sets(key: str, guarantee: str) -> None:
    with pytest.raises(ConfigError, match=f"{key}.*because processing.guarantee is set to '{guarantee}'"):
        StreamsConfig({**MINIMUM, "processing.guarantee": guarantee, key: "read_committed"})


def test_an_unknown_key_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        StreamsConfig({**MINIMUM, "num.streams.threads": 2, "producer.acks": "1"})
    assert [record.args for record in caplog.records] == [
        ("num.streams.threads", " Did you mean 'num.stream.threads'?")
    ]


def test_state_is_kept_in_the_directory_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    assert StreamsConfig(MINIMUM)["state.dir"].endswith(f"{os.sep}kafka-streams")
