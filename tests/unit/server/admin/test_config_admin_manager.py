"""Bounds of requests about many resources. (tests/integration/test_admin_manager.py has what they change.)"""

from __future__ import annotations

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
    assert describe(of_groups, "new/group") == {
        "consumer.heartbeat.interval.ms": ("6000", 4, ["group.consumer.heartbeat.interval.ms"] * 2),
        SESSION: ("45000", 5, ["group.consumer.session.timeout.ms"]),
    }


def test_the_overrides_of_a_group_are_in_zookeeper(of_groups: ConfigAdminManager, store: ConfigStore) -> None:
    assert alter(of_groups, "new/group", SESSION, "50000") == (Errors.NONE, None)
    assert store.nodes == {"groups/new%2Fgroup": {SESSION: "50000"}}
    assert store.changes == ["groups/new%2Fgroup"]
    assert describe(of_groups, "new/group")[SESSION] == ("50000", 8, [SESSION, "group.consumer.session.timeout.ms"])
    assert of_groups.resources(GROUP_RESOURCE) == ["new/group"]
    assert alter(of_groups, "new/group", SESSION, None, op=1) == (Errors.NONE, None)
    assert store.nodes == {"groups/new%2Fgroup": {}}


def test_bad_overrides_of_a_group_are_refused(of_groups: ConfigAdminManager, store: ConfigStore) -> None:
    for key, value in ((SESSION, "1"), (SESSION, "soon"), ("retention.ms", "1")):
        assert alter(of_groups, "g", key, value)[0] is Errors.INVALID_CONFIG
    assert alter(of_groups, "", SESSION, "50000")[0] is Errors.INVALID_REQUEST
    assert alter(of_groups, "g", SESSION, "50000", op=2)[0] is Errors.INVALID_REQUEST, "it is no list"
    assert store.nodes == {}
