"""Numbered notifications below a node: handled once and in order, none lost with the connection, old ones deleted."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from kafka_lite.zookeeper.zk_node_change_notification_listener import (
    CHANGE_EXPIRATION_MS,
    ZkNodeChangeNotificationListener,
)
from tests.support.fake_zookeeper import Tree, fake_zk

PATH = "/changes"


class Follower:
    """A broker that follows the notifications, and may fail."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.zookeeper = fake_zk(self.tree).zookeeper
        self.zookeeper.ensure_path(PATH)
        self.time = MockTime(start_ms=0)
        self.told: list[bytes] = []
        self.failures: list[KafkaError] = []
        self.listener = ZkNodeChangeNotificationListener(self.zookeeper, PATH, self.process, self.time)

    def process(self, data: bytes) -> None:
        if self.failures:
            raise self.failures.pop()
        self.told.append(data)

    def notify(self, number: int, data: bytes, created_ms: int = 0) -> None:
        self.zookeeper.create(f"{PATH}/change_{number:010d}", data)
        self.tree.nodes[f"{PATH}/change_{number:010d}"].created_ms = created_ms


@pytest.fixture
def follower() -> Follower:
    return Follower()


def test_notifications_are_handled_once_in_the_order_of_their_numbers(follower: Follower) -> None:
    follower.notify(9, b"second")
    follower.notify(8, b"first")
    follower.listener.startup()
    follower.notify(10, b"third")  # the watch tells
    follower.listener.process_notifications()
    assert follower.told == [b"first", b"second", b"third"]


def test_a_bad_notification_is_skipped(follower: Follower, caplog: pytest.LogCaptureFixture) -> None:
    follower.notify(1, b"bad")
    follower.notify(2, b"good")
    follower.failures = [KafkaError("not JSON")]
    follower.listener.process_notifications()
    follower.listener.process_notifications()
    assert follower.told == [b"good"]
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == [
        "Ignoring the notification /changes/change_0000000001: not JSON"
    ]


def test_no_notification_is_lost_with_the_connection(follower: Follower) -> None:
    follower.notify(1, b"revoked")
    follower.notify(2, b"granted")
    follower.failures = [ZkConnectionError("no answer in 18 s")]
    with pytest.raises(ZkConnectionError):
        follower.listener.process_notifications()
    assert follower.told == []
    follower.listener.process_notifications()
    assert follower.told == [b"revoked", b"granted"]


def test_old_notifications_are_deleted_up_to_the_first_recent_one(follower: Follower) -> None:
    for number, created_ms in ((1, 0), (2, 5), (3, 0)):
        follower.notify(number, b"", created_ms)
    follower.time.sleep(CHANGE_EXPIRATION_MS)
    follower.listener.process_notifications()
    assert len(follower.zookeeper.children(PATH)) == 3, "exactly fifteen minutes is not too old"
    follower.time.sleep(1)
    follower.listener.process_notifications()
    assert follower.zookeeper.children(PATH) == ["change_0000000002", "change_0000000003"]
    assert follower.told == [b""] * 3
