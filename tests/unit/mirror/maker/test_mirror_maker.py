"""A whole mirror without clusters: how it is made, how it starts, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.maker import mirror_maker
from kafka_lite.mirror.maker.mirror_maker import MirrorMaker
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig
from kafka_lite.mirror.maker.mirror_maker_message_handler import (
    DefaultMirrorMakerMessageHandler,
    MirrorMakerMessageHandler,
)
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.old_consumer.topic_filter import InvalidRegexError
from kafka_lite.producer.producer_record import ProducerRecord
from tests.support.mirrors import P0, FakeConsumer, FakeProducer, a_record

NOWHERE = "127.0.0.1:1"
NEW = {"bootstrap.servers": NOWHERE, "group.id": "g", "partition.assignment.strategy": "range"}
OLD = {"zookeeper.connect": NOWHERE, "group.id": "g"}
TARGET = {"bootstrap.servers": NOWHERE}


class Renaming(MirrorMakerMessageHandler):
    created: ClassVar[list[tuple[str, ...]]] = []

    def __init__(self, *arguments: str) -> None:
        self.created.append(arguments)

    def handle(self, record: ConsumerRecord) -> Sequence[ProducerRecord]:
        return ()


class Listening(ConsumerRebalanceListener):
    created: ClassVar[list[tuple[str, ...]]] = []

    def __init__(self, *arguments: str) -> None:
        self.created.append(arguments)


class FakeConnector:
    all: ClassVar[list[FakeConnector]] = []
    fails_at = 9

    def __init__(self, config: Any, _time: object) -> None:
        if len(self.all) == self.fails_at:
            raise OSError("no ZooKeeper")
        self.client_id = config["client.id"]
        self.is_shut_down = False
        self.listener: Any = None
        self.all.append(self)

    def __enter__(self) -> FakeConnector:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def set_consumer_rebalance_listener(self, listener: Any) -> None:
        self.listener = listener

    def shutdown(self) -> None:
        self.is_shut_down = True


@pytest.fixture
def connectors(monkeypatch: pytest.MonkeyPatch) -> type[FakeConnector]:
    monkeypatch.setattr(FakeConnector, "all", [])
    monkeypatch.setattr(FakeConnector, "fails_at", 9)
    monkeypatch.setattr(mirror_maker, "ZookeeperConsumerConnector", FakeConnector)
    return FakeConnector


def config(consumer: dict[str, str], **flags: Any) -> MirrorMakerConfig:
    return MirrorMakerConfig(consumer, TARGET, whitelist="t", **flags)


def test_a_mirror_without_clusters_starts_waits_and_stops() -> None:
    mirror = MirrorMaker.create(config(NEW, num_streams=2))
    mirror.start()
    assert not mirror.await_end(0)
    assert mirror.progress() == []
    mirror.initiate_shutdown()
    mirror.initiate_shutdown()
    assert mirror.await_shutdown()
    assert mirror.await_end(0)
    assert not mirror.state.exiting_on_send_failure


def test_classes_of_the_user_are_made_with_their_text_or_without() -> None:
    def name(of: type[Any]) -> str:
        return f"{of.__module__}.{of.__qualname__}"

    Renaming.created.clear()
    Listening.created.clear()
    texts: list[dict[str, Any]] = [{}, {"message_handler_args": "x", "rebalance_listener_args": "y z"}]
    for arguments in texts:
        mirror = MirrorMaker.create(
            config(NEW, message_handler=name(Renaming), consumer_rebalance_listener=name(Listening), **arguments)
        )
        mirror.start()
        mirror.initiate_shutdown()
        assert mirror.await_shutdown()
    assert Renaming.created == [(), ("x",)]
    assert Listening.created == [(), ("y z",)]


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ({"message_handler": "no.such.Class"}, "message.handler: not found; must be package.module.Class"),
        ({"message_handler": "pathlib.Path"}, "message.handler: is not a MirrorMakerMessageHandler"),
        ({"consumer_rebalance_listener": "pathlib.Path"}, "listener: is not a ConsumerRebalanceListener"),
    ],
)
def test_a_class_that_is_none_is_named(flags: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        MirrorMaker.create(config(NEW, **flags))


def test_old_consumers_have_a_connector_each(connectors: type[FakeConnector]) -> None:
    mirror = MirrorMaker.create(config(OLD, num_streams=2))
    assert [each.client_id for each in connectors.all] == ["g-0", "g-1"]
    assert all(each.listener is not None for each in connectors.all)
    assert mirror.await_shutdown()


def test_without_zookeeper_the_connectors_that_were_made_are_shut_down(connectors: type[FakeConnector]) -> None:
    connectors.fails_at = 1
    with pytest.raises(OSError, match="no ZooKeeper"):
        MirrorMaker.create(config(OLD, num_streams=2))
    assert [each.is_shut_down for each in connectors.all] == [True]


def test_the_regex_of_old_consumers_is_checked_before_they_connect(connectors: type[FakeConnector]) -> None:
    with pytest.raises(InvalidRegexError):
        MirrorMaker.create(MirrorMakerConfig(OLD, TARGET, blacklist="t["))
    assert connectors.all == []


def test_a_failed_thread_ends_the_mirror_and_the_others_with_it() -> None:
    calls: list[str] = []
    state, fake = MirrorMakerState(), FakeProducer(calls)
    producer = MirrorMakerProducer(fake, state, sync=False, abort_on_send_failure=True)
    mirror = MirrorMaker(config(NEW), state, producer)
    failing, waiting = FakeConsumer([], [ValueError("broken")]), FakeConsumer([], [a_record(0)])
    commits = MirrorMakerCommits(producer, state, mirror._time)
    mirror._add_threads([failing, waiting], DefaultMirrorMakerMessageHandler(), commits)
    assert [each.topic_partition for each in mirror.progress()] == [P0, P0]
    mirror.start()
    while not mirror.await_end(60):
        pass
    mirror.initiate_shutdown()
    assert mirror.await_shutdown()
    assert state.exiting_on_send_failure
    assert "cleanup" in failing.calls
    assert "cleanup" in waiting.calls
    assert not [each for each in failing.calls + waiting.calls if each.startswith("commit")]
    assert calls[-1] == "close producer"
