"""Quotas from the nodes of clients, users and addresses to the managers that apply them."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.security.scram.credential_provider import CredentialProvider
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.server.dynamic.config_handler import ConfigHandler
from kafka_lite.server.dynamic.dynamic_config_manager import DynamicConfigManager
from kafka_lite.server.dynamic.quota_config_handler import ClientIdConfigHandler, IpConfigHandler, UserConfigHandler
from kafka_lite.server.quotas.client_quota_managers import ClientQuotaManagers, client_quota_managers
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.fake_zookeeper import Tree, fake_zk

ALL = {
    "producer_byte_rate": "1",
    "consumer_byte_rate": "2",
    "request_percentage": "3.5",
    "controller_mutation_rate": "4.5",
}


@pytest.fixture
def quotas() -> ClientQuotaManagers:
    time = MockTime()
    return client_quota_managers(MetricConfig(11, 1000), MetricConfig(11, 1000), Metrics(time=time), time)


def bounds(quotas: ClientQuotaManagers, user: str, client_id: str) -> list[float]:
    return [manager.quota(user, client_id).bound for manager in quotas]


# ── the handlers


def test_each_key_sets_its_quota_and_a_missing_one_removes_it(quotas: ClientQuotaManagers) -> None:
    handler = ClientIdConfigHandler(quotas)
    handler.process_config_changes("a%20b", ALL)
    assert bounds(quotas, "U", "a b") == [1, 2, 3.5, 4.5]
    assert bounds(quotas, "U", "a%20b") == [UNLIMITED] * 4
    handler.process_config_changes("a%20b", {"consumer_byte_rate": "7"})
    assert bounds(quotas, "U", "a b") == [UNLIMITED, 7, UNLIMITED, UNLIMITED]
    handler.process_config_changes("<default>", {"producer_byte_rate": "9"})
    assert bounds(quotas, "U", "a b") == [9, 7, UNLIMITED, UNLIMITED]


def test_the_nodes_of_users_have_one_name_or_two(quotas: ClientQuotaManagers) -> None:
    credentials = CredentialProvider()
    handler = UserConfigHandler(quotas, credentials)
    credential = ScramFormatter(ScramMechanism.SCRAM_SHA_256).generate_credential("secret", 4096)
    text = credential.to_string()
    handler.process_config_changes("CN%3Dalice", {"producer_byte_rate": "1", "SCRAM-SHA-256": text})
    handler.process_config_changes("CN%3Dalice/clients/a%20b", {"producer_byte_rate": "2"})
    handler.process_config_changes("<default>/clients/<default>", {"producer_byte_rate": "3"})
    clients = [("CN%3Dalice", "c"), ("CN%3Dalice", "a b"), ("bob", "c")]
    assert [quotas.produce.quota(*client).bound for client in clients] == [1, 2, 3]
    assert credentials.credential(ScramMechanism.SCRAM_SHA_256, "CN=alice") == credential


@pytest.mark.parametrize("path", ["U/clients", "U/clients/C/D", "U/topics/C"])
def test_other_paths_of_users_are_refused(quotas: ClientQuotaManagers, path: str) -> None:
    with pytest.raises(ValueError, match="Invalid quota entity path"):
        UserConfigHandler(quotas, CredentialProvider()).process_config_changes(path, ALL)


@pytest.mark.parametrize(
    "bad",
    [{"controller_mutation_rate": "many"}, {"consumer_byte_rate": "1.5"}, {"request_percentage": "nan"}]
    + [{key: "-1"} for key in ALL],
)
def test_with_a_bad_value_no_quota_of_the_entity_changes(quotas: ClientQuotaManagers, bad: dict[str, str]) -> None:
    handler = ClientIdConfigHandler(quotas)
    handler.process_config_changes("c", ALL)
    with pytest.raises(ConfigError):
        handler.process_config_changes("c", {"producer_byte_rate": "100", **bad})
    assert bounds(quotas, "U", "c") == [1, 2, 3.5, 4.5]


def test_an_entity_with_one_kind_of_quota_is_measured_for_all(quotas: ClientQuotaManagers) -> None:
    ClientIdConfigHandler(quotas).process_config_changes("c", {"producer_byte_rate": "1"})
    assert all(manager.quotas_enabled for manager in quotas)


def test_rates_of_addresses_and_their_default() -> None:
    updates: list[tuple[str | None, int | None]] = []
    handler = IpConfigHandler(lambda address, rate: updates.append((address, rate)))
    handler.process_config_changes("127.0.0.1", {"connection_creation_rate": "5"})
    handler.process_config_changes("::1", {})
    handler.process_config_changes("<default>", {"connection_creation_rate": "0"})
    assert updates == [("127.0.0.1", 5), ("::1", None), (None, 0)]
    for bad in ("-1", "x", ""):
        with pytest.raises(ConfigError):
            handler.process_config_changes("127.0.0.1", {"connection_creation_rate": bad})
    assert len(updates) == 3


def test_all_managers_start_and_stop(quotas: ClientQuotaManagers) -> None:
    quotas.startup()
    quotas.shutdown()
    for manager in quotas:
        manager.shutdown()


# ── from ZooKeeper


@pytest.fixture
def zk() -> KafkaZkClient:
    zk = fake_zk(Tree())
    zk.zookeeper.ensure_path(paths.CONFIG_CHANGES)
    return zk


def manager_of(zk: KafkaZkClient, quotas: ClientQuotaManagers) -> DynamicConfigManager:
    handlers: dict[str, ConfigHandler] = {
        "clients": ClientIdConfigHandler(quotas),
        "users": UserConfigHandler(quotas, CredentialProvider()),
    }
    return DynamicConfigManager(zk, handlers, MockTime(start_ms=0))  # no notification is old enough to be deleted


def test_all_quotas_are_read_at_the_start(zk: KafkaZkClient, quotas: ClientQuotaManagers) -> None:
    for number, path in enumerate(
        ("clients/C", "clients/<default>", "users/U", "users/U/clients/C", "users/<default>/clients/D"), 1
    ):
        zk.set_entity_config(path, {"producer_byte_rate": str(number)})
    manager_of(zk, quotas).startup()
    clients = [("V", "C"), ("V", "E"), ("U", "E"), ("U", "C"), ("V", "D")]
    assert [quotas.produce.quota(*client).bound for client in clients] == [1, 2, 3, 4, 5]


def test_a_notification_of_either_version_lets_a_quota_be_read(
    zk: KafkaZkClient, quotas: ClientQuotaManagers, caplog: pytest.LogCaptureFixture
) -> None:
    manager = manager_of(zk, quotas)
    manager.startup()
    notifications = [
        ("clients/old", b'{"version":1,"entity_type":"clients","entity_name":"old"}'),
        ("users/U/clients/new", b'{"version":2,"entity_path":"users/U/clients/new"}'),
        ("users/V", b'{"version":1,"entity_type":"users","entity_name":"V"}'),
        ("clients/future", b'{"version":3,"entity_path":"clients/future"}'),
    ]
    for path, data in notifications:
        zk.set_entity_config(path, {"consumer_byte_rate": "5"})
        zk.zookeeper.create(f"{paths.CONFIG_CHANGES}/{paths.CONFIG_CHANGE_PREFIX}", data, sequential=True)
    manager.process_changes()
    clients = [("W", "old"), ("U", "new"), ("V", "c"), ("W", "future")]
    assert [quotas.fetch.quota(*client).bound for client in clients] == [5, 5, UNLIMITED, UNLIMITED]
    assert "'entity_type' of version 1 must be topics or clients, not 'users'" in caplog.text
    assert "version 3 is not supported" in caplog.text
