"""Which of the broker's keys are dynamic defaults of topics, and how a change is applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.server.dynamic.broker_reconfigurable import DynamicLogConfig
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig

UNCLEAN = "unclean.leader.election.enable"


class Broker:
    """The affected components; ``elections`` counts the notifications of the controller."""

    def __init__(self, directory: Path) -> None:
        config = KafkaConfig({"zookeeper.connect": "zk", "log.retention.hours": "2", UNCLEAN: "false"})
        time = MockTime()
        defaults = LogConfig({}, config.log_config_map())
        self.logs = LogManager([directory], {}, defaults, MockScheduler(time), time)
        self.logs.startup()
        self.elections = 0
        self.dynamic = DynamicBrokerConfig(config)
        self.dynamic.add_broker_reconfigurable(DynamicLogConfig(self.logs, self._count))

    def _count(self) -> None:
        self.elections += 1


@pytest.fixture
def broker(tmp_path: Path) -> Broker:
    return Broker(tmp_path)


def test_the_keys_match_kafka() -> None:
    keys = DynamicLogConfig.reconfigurable_configs
    assert {"log.retention.ms", "log.roll.ms", "message.max.bytes", "compression.type", "log.flush.interval.ms"} <= keys
    others = {"log.retention.hours", "log.roll.hours", "log.message.format.version", "log.flush.scheduler.interval.ms"}
    assert keys.isdisjoint(others)
    assert len(keys) == 25


def test_overrides_apply_to_logs_and_are_undone_when_removed(broker: Broker) -> None:
    config = broker.logs.get_or_create_log(TopicPartition("t", 0), LogConfig({"segment.ms": 5})).config
    broker.dynamic.update_default({"log.retention.ms": "9", "log.roll.ms": "8"})
    log = broker.logs.get_or_create_log(TopicPartition("t", 0))
    assert (log.config.retention_ms, log.config.segment_ms) == (9, 5)
    broker.dynamic.update_broker({"log.retention.ms": "7"})
    assert log.config.retention_ms == 7
    broker.dynamic.update_broker({})
    broker.dynamic.update_default({})
    assert log.config.values == config.values
    assert log.config.retention_ms == 7_200_000


def test_enabling_unclean_election_triggers_one_election(broker: Broker) -> None:
    broker.dynamic.update_default({"log.retention.ms": "9"})
    assert broker.elections == 0
    broker.dynamic.update_default({UNCLEAN: "true"})
    broker.dynamic.update_default({UNCLEAN: "true", "log.retention.ms": "8"})
    assert broker.elections == 1
    broker.dynamic.update_default({})
    assert broker.elections == 1
