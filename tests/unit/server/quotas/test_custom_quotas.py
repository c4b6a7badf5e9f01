"""A callback of one's own is asked for tags and limits, told of changes, and harms nobody when it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.quotas.client_quota_entity import DEFAULT, KafkaQuotaEntity
from kafka_lite.server.quotas.client_quota_managers import ClientQuotaManagers, client_quota_managers
from kafka_lite.server.quotas.custom_quotas import (
    CustomQuotas,
    DynamicClientQuotaCallback,
    MetricTags,
    client_quota_entity,
    load_client_quota_callback,
)
from kafka_lite.server.quotas.quota_type import QuotaType
from tests.support.own_quotas import DEFAULT_KEY, GroupQuotas

RED = KafkaQuotaEntity("red_")


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


@pytest.fixture
def callback() -> GroupQuotas:
    callback = GroupQuotas()
    callback.configure({"broker.id": 1})
    return callback


@pytest.fixture
def managers(callback: GroupQuotas, metrics: Metrics, time: MockTime) -> ClientQuotaManagers:
    config = MetricConfig(11, 1000)
    return client_quota_managers(config, config, metrics, time, callback=callback)


def produce(managers: ClientQuotaManagers, user: str, size: float, client_id: str = "c") -> int:
    return managers.produce.maybe_record_and_get_throttle_time_ms(user, client_id, size, 0.0)


def rate(metrics: Metrics, tags: Mapping[str, str]) -> KafkaMetric:
    found = metrics.metric(metrics.metric_name("byte-rate", "Produce", tags=tags))
    assert found is not None, tags
    return found


def test_users_with_equal_tags_share_a_quota(managers: ClientQuotaManagers, metrics: Metrics) -> None:
    assert managers.is_enabled, "a callback is asked from the start"
    managers.update_quotas(RED, {"producer_byte_rate": "100"})
    assert produce(managers, "red_1", 1000) == 0
    assert produce(managers, "red_2", 50, "another") == 500
    assert produce(managers, "blue_1", 1e9) == 0
    assert rate(metrics, {"group": "red"}).value == 105
    assert rate(metrics, {}).value == 1e8, "those without a quota share the sensor without tags"


def test_the_callback_gets_names_as_users_write_them(managers: ClientQuotaManagers, callback: GroupQuotas) -> None:
    managers.fetch.maybe_record_and_get_throttle_time_ms("a%2Fb%20c", "x/y", 1, 0.0)
    assert callback.calls == [(QuotaType.FETCH, KafkaPrincipal("User", "a/b c"), "x/y")]


@pytest.mark.parametrize(
    ("entity", "parts"),
    [
        (KafkaQuotaEntity("a%2Fb"), [("USER", "a/b")]),
        (KafkaQuotaEntity(client_id="x y"), [("CLIENT_ID", "x y")]),
        (KafkaQuotaEntity("u", DEFAULT), [("USER", "u"), ("DEFAULT_CLIENT_ID", "<default>")]),
        (KafkaQuotaEntity(DEFAULT, "c"), [("DEFAULT_USER", "<default>"), ("CLIENT_ID", "c")]),
    ],
)
def test_an_entity_is_one_part_or_the_user_and_the_client_id(
    entity: KafkaQuotaEntity, parts: list[tuple[str, str]]
) -> None:
    entities = client_quota_entity(entity).config_entities
    assert [(part.entity_type.name, part.name) for part in entities] == parts


def test_a_changed_quota_applies_at_once_to_all_sensors(managers: ClientQuotaManagers) -> None:
    managers.update_quotas(RED, {"producer_byte_rate": "100"})
    assert produce(managers, "red_1", 2000) == 10_000
    managers.update_quotas(RED, {"producer_byte_rate": "1000"})
    assert produce(managers, "red_1", 0) == 0
    managers.update_quotas(RED, {"producer_byte_rate": "100"})
    assert produce(managers, "red_2", 0) == 10_000
    managers.update_quotas(RED, {})
    assert produce(managers, "red_1", 1e9) == 0
    assert managers.produce.max_value_in_quota_window("red_1", "c") == UNLIMITED


def test_limits_are_read_again_when_the_callback_says_so(managers: ClientQuotaManagers, callback: GroupQuotas) -> None:
    managers.update_quotas(RED, {"producer_byte_rate": "100"})
    assert produce(managers, "red_1", 2000) == 10_000
    callback.quotas[QuotaType.PRODUCE, "red"] = 1000
    assert produce(managers, "red_1", 0) == 10_000, "nobody has said that it changed"
    callback.is_changed[QuotaType.PRODUCE] = True
    assert produce(managers, "red_1", 0) == 0
    assert not callback.is_changed[QuotaType.PRODUCE], "it is asked once for each request"


def test_limits_follow_the_metadata_of_the_cluster(managers: ClientQuotaManagers) -> None:
    managers.update_quotas(RED, {"producer_byte_rate": "100"})
    assert produce(managers, "red_1", 1000) == 0
    nodes = [Node(1, "a", 1), Node(2, "b", 2)]
    partitions = tuple(PartitionInfo("red_topic", number, nodes[number % 2]) for number in range(4))
    managers.update_cluster_metadata(lambda: Cluster(tuple(nodes), partitions))
    assert managers.produce.quota("red_1", "c").bound == 50
    assert produce(managers, "red_1", 0) == 10_000


def test_without_a_callback_no_metadata_is_put_together(metrics: Metrics, time: MockTime) -> None:
    config = MetricConfig(11, 1000)
    managers = client_quota_managers(config, config, metrics, time)

    def never() -> Cluster:
        raise AssertionError("this costs as much as the cluster is large")

    managers.update_cluster_metadata(never)


def test_the_callback_is_closed_once(managers: ClientQuotaManagers, callback: GroupQuotas) -> None:
    managers.startup()
    managers.shutdown()
    assert callback.closed == 1


# ── a callback that fails


class Failing(GroupQuotas):
    """Raises in every method."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"quotas", "parts", "is_changed", "calls"}:
            raise RuntimeError("broken")
        return super().__getattribute__(name)

    def __init__(self) -> None:
        pass


def test_an_error_is_logged_and_nobody_is_limited(
    metrics: Metrics, time: MockTime, caplog: pytest.LogCaptureFixture
) -> None:
    config = MetricConfig(11, 1000)
    managers = client_quota_managers(config, config, metrics, time, callback=Failing())
    managers.update_quotas(RED, {"producer_byte_rate": "1"})
    assert produce(managers, "red_1", 1e9) == 0
    managers.update_cluster_metadata(Cluster)
    failed = {record.message.split(": ")[1] for record in caplog.records if record.levelname == "ERROR"}
    assert {
        "update_quota of PRODUCE failed; nobody is limited by it",
        "remove_quota of FETCH failed; nobody is limited by it",
        "tags of PRODUCE failed; nobody is limited by it",
        "quota_reset_required of PRODUCE failed; nobody is limited by it",
        "update_cluster_metadata failed",
    } <= failed


def test_a_limit_that_cannot_be_told_is_none(caplog: pytest.LogCaptureFixture) -> None:
    quotas = CustomQuotas(Failing(), QuotaType.REQUEST)
    assert quotas.quota_limit(MetricTags.of({"group": "red"})) == UNLIMITED
    assert "limit of REQUEST failed" in caplog.text


def test_tags_name_a_sensor_by_names_and_values() -> None:
    tags = MetricTags.of({"tenant": "t", "client-id": "c"})
    assert (str(tags), tags.as_dict(), tags.user, tags.client_id) == (
        "tenant=t,client-id=c",
        {"tenant": "t", "client-id": "c"},
        "",
        "c",
    )


# ── from the configuration


def config(**keys: str) -> KafkaConfig:
    return KafkaConfig({"zookeeper.connect": "zk", **{key.replace("_", "."): value for key, value in keys.items()}})


def test_the_class_is_loaded_and_configured_with_all_keys() -> None:
    static = config(client_quota_callback_class="tests.support.own_quotas.GroupQuotas", my_key="7")
    static.broker_id = 1001
    callback = load_client_quota_callback(static)
    assert isinstance(callback, GroupQuotas)
    assert (callback.configs["my.key"], callback.configs["broker.id"]) == ("7", 1001), "also a generated id"
    assert load_client_quota_callback(config()) is None


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tests.support.own_quotas.Missing", "not found; must be package.module.Class"),
        ("tests.support.own_quotas.NoQuotas", "is not a ClientQuotaCallback"),
        ("my.company.KafkaQuotas", "not found"),
    ],
)
def test_another_class_is_refused(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_client_quota_callback(config(client_quota_callback_class=name))


def test_its_keys_can_change_while_the_broker_runs(callback: GroupQuotas, caplog: pytest.LogCaptureFixture) -> None:
    dynamic, changed = DynamicBrokerConfig(config()), list[int]()
    dynamic.add_broker_reconfigurable(DynamicClientQuotaCallback(callback, lambda: changed.append(1)))
    dynamic.update_default({DEFAULT_KEY: "500"})
    assert (callback.quotas[QuotaType.PRODUCE, ""], changed) == (500, [1])
    dynamic.update_default({DEFAULT_KEY: "500", "another.key": "1"})
    assert changed == [1], "no key of the callback has changed"
    with pytest.raises(ConfigError, match="too little"):
        dynamic.validate({DEFAULT_KEY: "0"}, per_broker=False)
    with pytest.raises(ConfigError, match="ValueError: could not convert"):
        dynamic.validate({DEFAULT_KEY: "much"}, per_broker=False)
    assert not caplog.records


def test_keys_that_fail_do_not_keep_a_broker_from_starting(
    callback: GroupQuotas, caplog: pytest.LogCaptureFixture
) -> None:
    dynamic = DynamicBrokerConfig(config())
    dynamic.update_default({DEFAULT_KEY: "much"})
    dynamic.add_broker_reconfigurable(DynamicClientQuotaCallback(callback, lambda: None), created_with=config())
    assert "reconfigure failed" in caplog.text
