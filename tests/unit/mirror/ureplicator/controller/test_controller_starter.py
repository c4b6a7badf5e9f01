"""A whole controller on the embedded ZooKeeper."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import Whitelisting
from kafka_lite.mirror.ureplicator.controller.controller_conf import ControllerConf
from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerError
from kafka_lite.mirror.ureplicator.controller.controller_starter import ControllerStarter
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.eventually import eventually
from tests.support.patience import patient_s


@pytest.fixture
def zookeeper(tmp_path: Path) -> Iterator[EmbeddedZooKeeper]:
    with EmbeddedZooKeeper(tmp_path / "zk", tick_time_ms=500, force_sync=False) as server:
        yield server


@pytest.fixture
def conf(zookeeper: EmbeddedZooKeeper, tmp_path: Path) -> ControllerConf:
    return ControllerConf(
        "ur", f"{zookeeper.connect_string}/helix/", 0, "c1", auto_rebalance_delay_s=0, backup=tmp_path / "backup"
    )


def ask(starter: ControllerStarter, method: str, path: str, body: object = None) -> str:
    with closing(http.client.HTTPConnection("127.0.0.1", starter.port, timeout=patient_s(10))) as connection:
        connection.request(method, path, json.dumps(body) if body else None)
        return connection.getresponse().read().decode()


def create_topic(connect: str, topic: str, partitions: int) -> None:
    zk = KafkaZkClient(connect)
    zk.start(create_chroot=True)
    zk.create_topic_assignment(topic, TopicAssignment({number: [0] for number in range(partitions)}))
    zk.close()


def test_topics_of_both_clusters_are_mirrored(conf: ControllerConf, zookeeper: EmbeddedZooKeeper) -> None:
    connects = [f"{zookeeper.connect_string}/{name}" for name in ("source", "destination")]
    for connect in connects:
        create_topic(connect, "t", 3)
    starter = ControllerStarter(
        replace(
            conf,
            whitelisting=Whitelisting(refresh_time_s=0.1, init_wait_time_s=0),
            enable_src_kafka_validation=True,
            src_kafka_zk_path=connects[0],
            dest_kafka_zk_path=connects[1],
        )
    )
    starter.start()
    try:
        eventually(lambda: "[t]" in ask(starter, "GET", "/topics"))
        create_topic(connects[0], "u", 2)
        eventually(lambda: "Successfully" in ask(starter, "POST", "/topics/u"))
        assert json.loads(ask(starter, "GET", "/validation/srcKafka"))["numMismatchedTopics"] == 0
        assert json.loads(ask(starter, "GET", "/validation"))["numTopicPartitions"] == 5
    finally:
        starter.stop()
    assert starter.await_stop(0)


def test_the_next_controller_finds_the_topics(conf: ControllerConf) -> None:
    for number in range(2):
        starter = ControllerStarter(conf)
        starter.start()
        try:
            body = {"topic": f"t{number}", "numPartitions": 1}
            assert ask(starter, "POST", "/topics", body).startswith("Successfully add")
            found = ask(starter, "GET", "/topics")
        finally:
            starter.stop()
    assert found == "Current serving topics: [t0, t1]"


def test_it_stops_without_zookeeper(conf: ControllerConf, zookeeper: EmbeddedZooKeeper) -> None:
    starter = ControllerStarter(conf)
    starter.start()
    zookeeper.shutdown()
    starter.stop()
    assert starter.await_stop(0)


def test_a_port_that_is_taken_is_named_and_nothing_runs_on(conf: ControllerConf) -> None:
    first = ControllerStarter(conf)
    first.start()
    try:
        second = ControllerStarter(replace(conf, port=first.port, instance_id="c2"))
        with pytest.raises(ControllerError, match=r"cannot listen at 127.*Choose another -port or -host"):
            second.start()
        assert second.await_stop(0)
        assert ask(first, "GET", "/health") == "OK"
    finally:
        first.stop()
