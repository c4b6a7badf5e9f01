"""The connection to the ZooKeeper in the same process."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from kafka_lite.server.startup.zookeeper_in_broker import CONNECTION_ATTEMPTS, connect_to_embedded_zookeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkConnectionError


class PausedClient(KafkaZkClient):
    """Its process is paused until the time-out, in its first so many attempts."""

    attempts = 0

    def __init__(self, paused: int) -> None:
        self._paused = paused

    def start(self, *, create_chroot: bool = False) -> None:
        assert create_chroot
        PausedClient.attempts += 1
        if PausedClient.attempts <= self._paused:
            raise ZkConnectionError("no response.")


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Callable[[], PausedClient]]:
    monkeypatch.setattr(PausedClient, "attempts", 0)
    return lambda paused: lambda: PausedClient(paused)


def test_a_process_that_was_paused_connects_again(
    clients: Callable[[int], Callable[[], PausedClient]], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert connect_to_embedded_zookeeper(clients(CONNECTION_ATTEMPTS - 1))
    assert PausedClient.attempts == CONNECTION_ATTEMPTS
    assert [record.getMessage() for record in caplog.records] == [
        "no response. Trying again: it runs in this process, which may have been paused"
    ] * (CONNECTION_ATTEMPTS - 1)


def test_it_does_not_try_for_ever(clients: Callable[[int], Callable[[], PausedClient]]) -> None:
    with pytest.raises(ZkConnectionError, match="no response"):
        connect_to_embedded_zookeeper(clients(CONNECTION_ATTEMPTS))
    assert PausedClient.attempts == CONNECTION_ATTEMPTS
