"""Bounds of requests about many resources. (tests/integration/test_admin_manager.py has what they change.)"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsResource
from kafka_lite.protocol.messages.api_33_alter_configs import AlterConfigsResource
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterConfigsResource as IncrementalResource
from kafka_lite.server.admin.config_admin_manager import (
    BROKER_RESOURCE,
    LISTED_RESOURCES,
    MAX_DESCRIBED_ENTRIES,
    ConfigAdminManager,
)
from kafka_lite.server.admin.config_helper import ConfigHelper
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache


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
    entities = {"groups": ["b", "a"], "client-metrics": ["m"]}
    manager._zk_client = cast(Any, SimpleNamespace(get_entities=entities.__getitem__))
    alive = [SimpleNamespace(id=1), SimpleNamespace(id=2)]
    manager._cache = cast(Any, SimpleNamespace(get_all_topics=lambda: ["u", "t"], get_alive_brokers=lambda: alive))
    listed = [manager.resources(kind) for kind in LISTED_RESOURCES]
    assert listed == [["a", "b"], ["m"], ["1", "2"], ["1", "2"], ["t", "u"]]
