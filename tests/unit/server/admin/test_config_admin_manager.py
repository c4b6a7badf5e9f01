"""Bounds of requests about many resources. (tests/integration/test_admin_manager.py has what they change.)"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsResource
from kafka_lite.protocol.messages.api_33_alter_configs import AlterConfigsResource
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterableConfig
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterConfigsResource as IncrementalResource
from kafka_lite.server.admin.config_admin_manager import (
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    LISTED_RESOURCES,
    MAX_DESCRIBED_ENTRIES,
    ConfigAdminManager,
)
from kafka_lite.server.admin.config_helper import ConfigHelper
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from tests.support.config_store import ConfigStore


class NoZk:
    """Any use is an error of the test."""


@pytest.fixture
def manager() -> ConfigAdminManager:
    config = KafkaConfig({"zookeeper.connect": "x", "broker.id": "1"})
    return ConfigAdminManager(config, MetadataCache(1), cast(Any, NoZk()), DynamicBrokerConfig(config))


def test_a_broker_that_is_named_many_times_is_described_once(
    manager: ConfigAdminManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    described: list[Any] = []
    describe = ConfigHelper.describe_broker

    def counting(helper: ConfigHelper, *args: Any, **options: Any) -> Any:
        described.append(args)
        return describe(helper, *args, **options)

    monkeypatch.setattr(ConfigHelper, "describe_broker", counting)
    resource = DescribeConfigsResource(resource_type=BROKER_RESOURCE, resource_name="1", configuration_keys=None)
    results = manager.describe_configs([resource] * 2000)
    assert len(described) == 1
    entries = len(results[0].configs)
    assert entries > 100
    told = [Errors.for_code(result.error_code) for result in results]
    complete = MAX_DESCRIBED_ENTRIES // entries
    assert told == [Errors.NONE] * complete + [Errors.POLICY_VIOLATION] * (2000 - complete)


def test_other_keys_of_the_same_broker_are_described_by_themselves(manager: ConfigAdminManager) -> None:
    asked = [["broker.id"], ["num.io.threads"], ["broker.id"]]
    results = manager.describe_configs(
        [DescribeConfigsResource(resource_type=BROKER_RESOURCE, resource_name="1", configuration_keys=k) for k in asked]
    )
    assert [[entry.name for entry in result.configs] for result in results] == asked


def test_a_resource_that_occurs_twice_is_not_altered(manager: ConfigAdminManager) -> None:
    replaced = [AlterConfigsResource(resource_type=BROKER_RESOURCE, resource_name="1")] * 2
    changed = [IncrementalResource(resource_type=BROKER_RESOURCE, resource_name="1")] * 2
    for results in (manager.alter_configs(replaced, False), manager.incremental_alter_configs(changed, False)):
        assert [Errors.for_code(result.error_code) for result in results] == [Errors.INVALID_REQUEST] * 2
        assert {result.error_message for result in results} == {"Each resource must appear at most once."}


def test_topics_and_brokers_are_listed_and_else_what_has_a_configuration(manager: ConfigAdminManager) -> None:
    entities = {"groups": ["b", "a%2Fc", "%FF"], "client-metrics": ["m"]}
    manager._zk_client = cast(Any, SimpleNamespace(get_entities=entities.__getitem__))
    alive = [SimpleNamespace(id=1), SimpleNamespace(id=2)]
    manager._cache = cast(Any, SimpleNamespace(get_all_topics=lambda: ["u", "t"], get_alive_brokers=lambda: alive))
    listed = [manager.resources(kind) for kind in LISTED_RESOURCES]
    assert listed == [["%FF", "a/c", "b"], ["m"], ["1", "2"], ["1", "2"], ["t", "u"]]


# ── groups ────────────────────────────────────────────────────────────────────────────────────────────────────────────

SESSION = "consumer.session.timeout.ms"
LOCK = "share.record.lock.duration.ms"


@pytest.fixture
def store() -> ConfigStore:
    return ConfigStore()


@pytest.fixture
def of_groups(store: ConfigStore) -> ConfigAdminManager:
    config = KafkaConfig({"zookeeper.connect": "x", "broker.id": "1", "group.consumer.heartbeat.interval.ms": "6000"})
    return ConfigAdminManager(config, MetadataCache(1), cast(Any, store), DynamicBrokerConfig(config))


def alter(
    manager: ConfigAdminManager, name: str, key: str, value: str | None, op: int = 0
) -> tuple[Errors, str | None]:
    configs = [AlterableConfig(name=key, config_operation=op, value=value)]
    resource = IncrementalResource(resource_type=GROUP_RESOURCE, resource_name=name, configs=configs)
    (result,) = manager.incremental_alter_configs([resource], False)
    return Errors.for_code(result.error_code), result.error_message


def describe(manager: ConfigAdminManager, name: str) -> dict[str, tuple[str | None, int, list[str]]]:
    resource = DescribeConfigsResource(resource_type=GROUP_RESOURCE, resource_name=name, configuration_keys=None)
    (result,) = manager.describe_configs([resource], include_synonyms=True)
    assert result.error_code == 0
    return {each.name: (each.value, each.config_source, [s.name for s in each.synonyms]) for each in result.configs}


def test_a_group_may_be_anything_and_has_the_configuration_of_the_broker(of_groups: ConfigAdminManager) -> None:
    described = describe(of_groups, "new/group")
    assert {name: described[name] for name in described if name.startswith("consumer.")} == {
        "consumer.heartbeat.interval.ms": ("6000", 4, ["group.consumer.heartbeat.interval.ms"] * 2),
        SESSION: ("45000", 5, ["group.consumer.session.timeout.ms"]),
    }
    assert described["share.record.lock.duration.ms"] == ("30000", 5, ["group.share.record.lock.duration.ms"])
    assert described["share.isolation.level"] == ("read_uncommitted", 5, []), "brokers have no such key"


def test_the_overrides_of_a_group_are_in_zookeeper(of_groups: ConfigAdminManager, store: ConfigStore) -> None:
    assert alter(of_groups, "new/group", SESSION, "50000") == (Errors.NONE, None)
    assert store.nodes == {"groups/new%2Fgroup": {SESSION: "50000"}}
    assert store.changes == ["groups/new%2Fgroup"]
    assert describe(of_groups, "new/group")[SESSION] == ("50000", 8, [SESSION, "group.consumer.session.timeout.ms"])
    assert of_groups.resources(GROUP_RESOURCE) == ["new/group"]
    assert alter(of_groups, "new/group", SESSION, None, op=1) == (Errors.NONE, None)
    assert store.nodes == {}, "a group without overrides is not listed"
    assert alter(of_groups, "..", SESSION, "50000") == (Errors.NONE, None), "ZooKeeper has no node of this name"
    assert store.nodes == {"groups/%2E%2E": {SESSION: "50000"}}


def test_bad_overrides_of_a_group_are_refused(of_groups: ConfigAdminManager, store: ConfigStore) -> None:
    for key, value in ((SESSION, "1"), (SESSION, "soon"), ("retention.ms", "1"), (LOCK, "60001")):
        assert alter(of_groups, "g", key, value)[0] is Errors.INVALID_CONFIG
    assert alter(of_groups, "", SESSION, "50000")[0] is Errors.INVALID_REQUEST
    assert alter(of_groups, "g", SESSION, "50000", op=2)[0] is Errors.INVALID_CONFIG, "it is no list"
    assert store.nodes == {}


class StoredConfigs:
    """What ZooKeeper has of entities, and what is announced."""

    def __init__(self) -> None:
        self.entities: dict[str, dict[str, str]] = {}
        self.zookeeper = SimpleNamespace(refusing_without_room=contextlib.nullcontext)
        self.changes: list[str] = []

    def get_entity_config(self, path: str) -> dict[str, str]:
        return self.entities.get(path, {})

    def set_entity_config(self, path: str, config: dict[str, str]) -> None:
        self.entities[path] = dict(config)

    def delete_entity_config(self, path: str) -> None:
        self.entities.pop(path, None)

    def create_config_change(self, path: str) -> None:
        self.changes.append(path)


class TestClientMetrics:
    """Subscriptions to metrics of clients (KIP-714)."""

    @pytest.fixture
    def stored(self) -> StoredConfigs:
        return StoredConfigs()

    @pytest.fixture
    def manager(self, stored: StoredConfigs) -> ConfigAdminManager:
        config = KafkaConfig({"zookeeper.connect": "x", "broker.id": "1"})
        return ConfigAdminManager(config, MetadataCache(1), cast(Any, stored), DynamicBrokerConfig(config))

    @staticmethod
    def alter(
        manager: ConfigAdminManager, name: str, *changes: tuple[str, int, str | None], only: bool = False
    ) -> Errors:
        configs = [AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in changes]
        resource = IncrementalResource(resource_type=CLIENT_METRICS_RESOURCE, resource_name=name, configs=configs)
        (result,) = manager.incremental_alter_configs([resource], only)
        return Errors.for_code(result.error_code)

    def test_keys_are_set_added_to_and_deleted(self, manager: ConfigAdminManager, stored: StoredConfigs) -> None:
        assert self.alter(manager, "a/b", ("metrics", 0, "x."), ("interval.ms", 0, "1000")) is Errors.NONE
        assert self.alter(manager, "a/b", ("metrics", 2, "y.")) is Errors.NONE
        path = "client-metrics/a%2Fb"
        assert stored.entities == {path: {"metrics": "x.,y.", "interval.ms": "1000"}}
        assert self.alter(manager, "a/b", ("metrics", 1, None), ("interval.ms", 1, None)) is Errors.NONE
        assert (stored.entities, stored.changes) == ({}, [path] * 3)

    @pytest.mark.parametrize(
        ("name", "key", "value", "error"),
        [
            ("", "metrics", "x.", Errors.INVALID_REQUEST),
            ("s", "other", "x", Errors.INVALID_REQUEST),
            ("s", "interval.ms", "1", Errors.INVALID_REQUEST),
            ("s", "match", "colour=red", Errors.INVALID_CONFIG),
        ],
    )
    def test_bad_ones_are_refused(
        self, manager: ConfigAdminManager, stored: StoredConfigs, name: str, key: str, value: str, error: Errors
    ) -> None:
        assert self.alter(manager, name, (key, 0, value)) is error
        assert stored.entities == {}

    def test_a_check_changes_nothing(self, manager: ConfigAdminManager, stored: StoredConfigs) -> None:
        assert self.alter(manager, "s", ("metrics", 0, "x."), only=True) is Errors.NONE
        assert (stored.entities, stored.changes) == ({}, [])

    def test_the_keys_that_are_set_are_described(self, manager: ConfigAdminManager) -> None:
        self.alter(manager, "s", ("metrics", 0, "x."), ("interval.ms", 0, "1000"))
        for keys, expected in [(None, {"metrics": "x.", "interval.ms": "1000"}), (["metrics"], {"metrics": "x."})]:
            asked = DescribeConfigsResource(
                resource_type=CLIENT_METRICS_RESOURCE, resource_name="s", configuration_keys=keys
            )
            (result,) = manager.describe_configs([asked])
            assert {entry.name: entry.value for entry in result.configs} == expected
            assert {entry.config_source for entry in result.configs} == {7}


def test_a_type_without_configurations_is_an_error_for_all_that_is_asked_for(of_groups: ConfigAdminManager) -> None:
    asked = [DescribeConfigsResource(resource_type=kind, resource_name="g") for kind in (GROUP_RESOURCE, 99)]
    results = of_groups.describe_configs(asked, include_synonyms=False, include_documentation=False)
    assert [(each.resource_type, Errors.for_code(each.error_code)) for each in results] == [
        (GROUP_RESOURCE, Errors.INVALID_REQUEST),
        (99, Errors.INVALID_REQUEST),
    ]
    assert "99" in (results[0].error_message or "")
