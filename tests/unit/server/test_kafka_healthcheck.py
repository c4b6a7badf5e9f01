"""What a broker writes about itself into ZooKeeper."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, cast

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_healthcheck import UNKNOWN_BROKER_EPOCH, KafkaHealthcheck
from kafka_lite.zookeeper.data import BrokerRegistration


class Zk:
    """Each registration has its own epoch; ``epoch`` is that of the next one, None if the znode goes at once."""

    def __init__(self) -> None:
        self.registered: list[tuple[int, BrokerRegistration]] = []
        self.listeners: list[Callable[[], None]] = []
        self.epoch: int | None = 7

    def add_session_listener(self, listener: Callable[[], None]) -> None:
        self.listeners.append(listener)

    def register_broker(self, broker_id: int, registration: BrokerRegistration) -> None:
        self.registered.append((broker_id, registration))

    def get_broker_epoch(self, _broker_id: int) -> int | None:
        return self.epoch


def healthcheck(zk: Zk, **properties: str) -> KafkaHealthcheck:
    keys = {name.replace("_", "."): value for name, value in properties.items()}
    config = KafkaConfig({"broker.id": "3", "zookeeper.connect": "embedded", **keys})
    return KafkaHealthcheck(config, cast(Any, zk), {"PLAINTEXT": 4000, "INSIDE": 5000}.__getitem__, MockTime(1234))


def test_a_broker_registers_in_every_session() -> None:
    zk = Zk()
    health = healthcheck(zk, broker_rack="r")
    assert health.broker_epoch == UNKNOWN_BROKER_EPOCH
    health.startup()
    assert health.broker_epoch == 7
    zk.epoch = 9
    (new_session,) = zk.listeners
    new_session()
    assert health.broker_epoch == 9
    zk.epoch = None
    new_session()
    assert health.broker_epoch == UNKNOWN_BROKER_EPOCH
    assert [broker_id for broker_id, _ in zk.registered] == [3, 3, 3]
    assert (zk.registered[0][1].timestamp_ms, zk.registered[0][1].rack) == (1234, "r")


def test_clients_are_told_the_actual_port_and_a_host() -> None:
    health = healthcheck(
        Zk(), listeners="PLAINTEXT://:0,INSIDE://h:0,OUTSIDE://h:7",
        listener_security_protocol_map="PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
    )  # fmt: skip
    broker = health.local_broker()
    assert broker.id == 3
    assert [(each.listener_name, each.host, each.port) for each in broker.end_points] == [
        ("PLAINTEXT", socket.getfqdn(), 4000),
        ("INSIDE", "h", 5000),
        ("OUTSIDE", "h", 7),
    ]


@pytest.mark.parametrize(
    ("protocol", "version"), [("0.9.0", 2), ("0.10.0-IV0", 2), ("0.10.0-IV1", 4), ("2.6", 4), ("2.7", 5)]
)
def test_brokers_before_0_10_can_read_the_registration(protocol: str, version: int) -> None:
    zk = Zk()
    properties = {"inter_broker_protocol_version": protocol, "log_message_format_version": "0.9.0"}
    healthcheck(zk, **properties).register()
    assert f'"version":{version}'.encode() in zk.registered[0][1].encode().replace(b" ", b"")
