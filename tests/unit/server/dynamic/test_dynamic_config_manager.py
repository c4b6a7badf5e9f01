"""Notifications of changed configurations in ZooKeeper, and what their handlers do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.server.dynamic.config_handler import BrokerConfigHandler, GroupConfigHandler, TopicConfigHandler
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.dynamic.dynamic_config_manager import DynamicConfigManager
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.quotas.quota_factory import QuotaManagers, quota_managers
from kafka_lite.server.quotas.replication_quota_manager import UNLIMITED
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import ConfigChange
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from tests.support.fake_zookeeper import Tree, fake_zk

LEADER_RATE, FOLLOWER_RATE = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
UNCLEAN = "unclean.leader.election.enable"
QUARTER_OF_AN_HOUR_MS = 15 * 60 * 1000


class Handler:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, str]]] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        if "bad" in config:
            raise ConfigError("bad", config["bad"], "it is bad")
        self.told.append((entity_name, dict(config)))
        self.meanwhile()


class Changes:
    """ZooKeeper with configurations and numbered notifications, and a broker's manager."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.zk = fake_zk(self.tree)
        self.zk.zookeeper.ensure_path(paths.CONFIG_CHANGES)
        self.topics, self.brokers = Handler(), Handler()
        self.time = MockTime(start_ms=0)
        self.manager = self.new_manager()

    def new_manager(self) -> DynamicConfigManager:
        return DynamicConfigManager(self.zk, {"topics": self.topics, "brokers": self.brokers}, self.time)

    def notify(self, number: int, data: bytes, created_ms: int = 0) -> None:
        path = f"{paths.CONFIG_CHANGES}/config_change_{number:010d}"
        self.zk.zookeeper.create(path, data)
        if path in self.tree.nodes:
            self.tree.nodes[path].created_ms = created_ms

    def change(self, number: int, entity: str, value: str, created_ms: int = 0) -> None:
        self.zk.set_entity_config(entity, {"retention.ms": value})
        self.notify(number, ConfigChange(entity).encode(), created_ms)

    @property
    def left(self) -> list[int]:
        return [paths.sequence_number(name) for name in self.zk.zookeeper.children(paths.CONFIG_CHANGES)]


@pytest.fixture
def changes() -> Changes:
    return Changes()


def test_what_has_changed_before_is_applied_at_the_start(changes: Changes) -> None:
    changes.zk.set_entity_config("brokers/3", {"a": "1"})
    changes.zk.set_entity_config("topics/quiet", {"retention.ms": "1"})
    changes.change(0, "topics/t", "7")
    changes.manager.startup()
    assert changes.brokers.told == [("3", {"a": "1"})]
    assert changes.topics.told == [("t", {"retention.ms": "7"})], "topics are read when their logs are opened"


def test_a_change_is_applied_once_and_with_the_current_value(changes: Changes) -> None:
    changes.zk.set_entity_config("brokers/<default>", {})
    changes.manager.startup()
    changes.change(5, "topics/t", "7")
    changes.change(6, "topics/t", "8")
    changes.manager.process_changes()
    assert changes.topics.told == [("t", {"retention.ms": "7"}), ("t", {"retention.ms": "8"})]
    changes.new_manager().process_changes()
    assert changes.topics.told[2:] == [("t", {"retention.ms": "8"})] * 2, "another broker is late"


@pytest.mark.parametrize("entity", ["clients/c", "topics", "topics/"])
def test_other_entities_are_ignored(changes: Changes, entity: str) -> None:
    changes.notify(1, ConfigChange(entity).encode())
    changes.manager.process_changes()
    assert changes.topics.told == changes.brokers.told == []


def test_a_change_that_cannot_be_applied_does_not_stop_the_next(
    changes: Changes, caplog: pytest.LogCaptureFixture
) -> None:
    changes.notify(1, b"rubbish")
    changes.zk.set_entity_config("topics/broken", {"bad": "x"})
    changes.notify(2, ConfigChange("topics/broken").encode())
    changes.change(3, "topics/t", "7")
    changes.manager.process_changes()
    assert changes.topics.told == [("t", {"retention.ms": "7"})]
    assert "Ignoring the notification /config/changes/config_change_0000000001" in caplog.text
    assert "Cannot apply the configuration of topics/broken" in caplog.text
    changes.manager.process_changes()
    assert len(changes.topics.told) == 1
    assert caplog.text.count("Ignoring the notification") == 1, "it is not tried again"


def test_a_notification_that_another_broker_deletes_meanwhile_is_skipped(changes: Changes) -> None:
    changes.change(1, "topics/t", "7")
    changes.change(2, "topics/u", "8")
    changes.change(3, "topics/v", "9")

    def another_broker_deletes() -> None:
        changes.tree.nodes.pop(f"{paths.CONFIG_CHANGES}/config_change_0000000002", None)

    changes.topics.meanwhile = another_broker_deletes
    changes.time.sleep(QUARTER_OF_AN_HOUR_MS + 1)
    changes.manager.process_changes()
    assert [name for name, _ in changes.topics.told] == ["t", "v"]
    assert changes.left == [], "the old ones after it are deleted, too"


def test_a_change_whose_values_cannot_be_asked_for_is_applied_after_the_reconnect(
    changes: Changes, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes.change(1, "topics/t", "7")

    def no_connection(_path: str) -> dict[str, str]:
        raise ZkConnectionError("no answer")

    with monkeypatch.context() as lost:
        lost.setattr(changes.zk, "get_entity_config", no_connection)
        with pytest.raises(ZkConnectionError):
            changes.manager.process_changes()
    changes.manager.process_changes()
    assert changes.topics.told == [("t", {"retention.ms": "7"})]


def test_notifications_are_deleted_after_fifteen_minutes(changes: Changes) -> None:
    for number, created_ms in ((1, 0), (2, 5), (3, 1), (4, 100)):
        changes.change(number, "topics/t", "7", created_ms)
    changes.time.sleep(QUARTER_OF_AN_HOUR_MS)
    changes.manager.process_changes()
    assert changes.left == [1, 2, 3, 4], "exactly fifteen minutes is not too old"
    changes.time.sleep(1)
    changes.manager.process_changes()
    assert changes.left == [2, 3, 4]
    changes.time.sleep(3)
    changes.manager.process_changes()
    assert changes.left == [2, 3, 4], "the first one that is not old ends the search"
    changes.time.sleep(2)
    changes.manager.process_changes()
    assert changes.left == [4]


# ── the handlers


@pytest.fixture
def config() -> KafkaConfig:
    return KafkaConfig({"broker.id": "3", "zookeeper.connect": "zk", "log.retention.ms": "5"})


@pytest.fixture
def quotas(config: KafkaConfig) -> QuotaManagers:
    return quota_managers(config, MockTime(), Metrics())


def test_a_topics_overrides_reach_its_logs_its_quotas_and_the_controller(
    config: KafkaConfig, quotas: QuotaManagers
) -> None:
    applied: list[tuple[str, LogConfig]] = []
    elections: list[str] = []
    handler = TopicConfigHandler(
        lambda topic, log_config: applied.append((topic, log_config)), config.log_config_map, elections.append, quotas
    )
    handler.process_config_changes(
        "t", {"segment.bytes": "1000", "leader.replication.throttled.replicas": "0:3", UNCLEAN: "false"}
    )
    [(topic, log_config)] = applied
    assert (topic, log_config.segment_bytes, log_config.retention_ms) == ("t", 1000, 5)
    assert quotas.leader.is_throttled(TopicPartition("t", 0))
    assert elections == []
    handler.process_config_changes("u", {UNCLEAN: "true"})
    assert elections == ["u"]
    handler.process_config_changes("t", {})
    assert not quotas.leader.is_throttled(TopicPartition("t", 0))


def test_a_topic_without_an_override_causes_no_election(quotas: QuotaManagers) -> None:
    """The default of all topics is the controller's own affair."""
    elections: list[str] = []
    unclean = KafkaConfig({"broker.id": "3", "zookeeper.connect": "zk", UNCLEAN: "true"})
    handler = TopicConfigHandler(lambda _topic, _config: None, unclean.log_config_map, elections.append, quotas)
    handler.process_config_changes("t", {"segment.bytes": "1000"})
    assert elections == []


def test_a_brokers_own_rates_precede_those_of_all_brokers(config: KafkaConfig, quotas: QuotaManagers) -> None:
    dynamic = DynamicBrokerConfig(config)
    handler = BrokerConfigHandler(dynamic, quotas)
    handler.process_config_changes("3", {LEADER_RATE: "30"})
    handler.process_config_changes("<default>", {LEADER_RATE: "10", FOLLOWER_RATE: "20"})
    handler.process_config_changes("4", {LEADER_RATE: "40", FOLLOWER_RATE: "40"})
    assert (quotas.leader.upper_bound, quotas.follower.upper_bound) == (30, 20)
    handler.process_config_changes("3", {})
    assert (quotas.leader.upper_bound, quotas.follower.upper_bound) == (10, 20)
    handler.process_config_changes("<default>", {})
    assert (quotas.leader.upper_bound, quotas.follower.upper_bound) == (UNLIMITED, UNLIMITED)


def test_the_overrides_of_zookeeper_apply_before_the_start(config: KafkaConfig) -> None:
    zk = fake_zk(Tree())
    zk.set_entity_config("brokers/<default>", {"log.retention.ms": "7", "log.cleaner.backoff.ms": "8"})
    zk.set_entity_config("brokers/3", {"log.retention.ms": "9"})
    zk.set_entity_config("brokers/4", {"log.retention.ms": "10"})
    dynamic = DynamicBrokerConfig(config)
    dynamic.initialize(zk)
    assert dynamic.current_config.log_cleaner_backoff_ms == 8
    assert dynamic.topic_defaults()["retention.ms"] == 9


def test_the_name_of_a_group_may_be_anything() -> None:
    told: list[tuple[str, Mapping[str, str]]] = []
    GroupConfigHandler(lambda *change: told.append(change)).process_config_changes("a%2Fb", {"k": "v"})
    assert told == [("a/b", {"k": "v"})]
