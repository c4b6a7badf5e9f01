"""Quotas by the flags of both generations: through a broker, and in ZooKeeper, with the words of Kafka's tools."""

from __future__ import annotations

import argparse
from typing import Any, cast

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.protocol.messages.api_48_describe_client_quotas import DescribeClientQuotasRequest
from kafka_lite.server.apis.client_quota_apis import ClientQuotaApis
from kafka_lite.tools.admin import configs, quota_configs
from kafka_lite.tools.common.tool_errors import ToolError
from tests.support.config_store import ConfigStore

RATE = "producer_byte_rate=1048576"


class Broker:
    """An AdminChannel to a broker that has only the handlers of quotas."""

    def __init__(self, store: ConfigStore) -> None:
        self.apis = ClientQuotaApis(cast(Any, store))

    def send(self, request: Any, _response: type[Any]) -> Any:
        describes = isinstance(request, DescribeClientQuotasRequest)
        handle = self.apis.handle_describe_client_quotas if describes else self.apis.handle_alter_client_quotas
        responses: list[Any] = []
        handle(cast(Any, None), request, responses.append)
        return responses[0]


class Tool:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.store = ConfigStore()
        self.channel: Any = Broker(self.store)
        self.capsys = capsys

    def __call__(self, *arguments: str, zookeeper: bool = False) -> list[str]:
        parser = argparse.ArgumentParser()
        configs.add_arguments(parser)
        where = ("--zookeeper", "zk") if zookeeper else ("--bootstrap-server", "b:9092")
        options = parser.parse_args([*where, *arguments])
        chosen = quota_configs.chosen_quotas(*configs._named(options), options)
        if options.alter:
            alter = quota_configs.alter_quotas_in_zookeeper if zookeeper else quota_configs.alter_quotas
            alter(cast(Any, self.store) if zookeeper else self.channel, chosen, *configs._changes(options))
        elif zookeeper:
            quota_configs.describe_quotas_in_zookeeper(cast(Any, self.store), chosen)
        else:
            quota_configs.describe_quotas(self.channel, chosen)
        return self.capsys.readouterr().out.splitlines()


@pytest.fixture
def tool(capsys: pytest.CaptureFixture[str]) -> Tool:
    return Tool(capsys)


def set_all(tool: Tool) -> None:
    tool.store.nodes = {
        "clients/slow": {"producer_byte_rate": "1048576", "consumer_byte_rate": "2097152"},
        "clients/<default>": {"producer_byte_rate": "2048"},
        "users/a%20b": {},
        "users/a%20b/clients/<default>": {"request_percentage": "12.5"},
        "ips/10.0.0.7": {"connection_creation_rate": "5"},
    }


@pytest.mark.parametrize(
    ("flags", "path", "of_3_9", "of_0_10_2"),
    [
        (("--client", "slow"), "clients/slow", "config for client slow", "client-id 'slow'"),
        (("--client-defaults",), "clients/<default>", "default config for clients in the cluster", "default client-id"),
        (
            ("--entity-type", "clients", "--entity-default"),
            "clients/<default>",
            "default config for clients in the cluster",
            "default client-id",
        ),
        (("--user", "a b"), "users/a%20b", "config for user a b", "user-principal 'a b'"),
        (
            ("--entity-type", "clients", "--entity-name", "c", "--entity-type", "users", "--entity-name", "u"),
            "users/u/clients/c",
            "config for user u",
            "user-principal 'u', client-id 'c'",
        ),
        (
            ("--user-defaults", "--client-defaults"),
            "users/<default>/clients/<default>",
            "default config for users in the cluster",
            "default user-principal, default client-id",
        ),
    ],
)
def test_both_ways_write_the_same_node(
    tool: Tool, flags: tuple[str, ...], path: str, of_3_9: str, of_0_10_2: str
) -> None:
    assert tool("--alter", "--add-config", RATE, *flags) == [f"Completed updating {of_3_9}."]
    assert tool.store.nodes[path] == {"producer_byte_rate": "1048576"}
    assert tool("--alter", "--delete-config", "producer_byte_rate", *flags) == [f"Completed updating {of_3_9}."]
    assert tool.store.nodes[path] == {}
    expected = [f"Completed Updating config for entity: {of_0_10_2}."]
    assert tool("--alter", "--add-config", RATE, *flags, zookeeper=True) == expected
    assert tool.store.nodes[path] == {"producer_byte_rate": "1048576"}
    assert tool.store.changes == [path] * 3


def test_a_broker_describes_the_entities_of_the_chosen_types(tool: Tool) -> None:
    set_all(tool)
    slow = "Quota configs for client-id 'slow' are consumer_byte_rate=2097152.0, producer_byte_rate=1048576.0"
    default = "Quota configs for the default client-id are producer_byte_rate=2048.0"
    assert tool("--describe", "--entity-type", "clients") == [default, slow]
    assert tool("--describe", "--client", "slow") == [slow]
    assert tool("--describe", "--client", "fast") == []
    assert tool("--describe", "--entity-type", "users") == []
    of_user = "Quota configs for user-principal 'a b', the default client-id are request_percentage=12.5"
    assert tool("--describe", "--entity-type", "users", "--entity-type", "clients") == [of_user]
    assert tool("--describe", "--entity-type", "users", "--entity-name", "a b", "--entity-type", "clients") == [of_user]
    assert tool("--describe", "--ip", "10.0.0.7") == [
        "Quota configs for ip '10.0.0.7' are connection_creation_rate=5.0"
    ]


def test_zookeeper_describes_nodes_as_0_10_2_does(tool: Tool) -> None:
    set_all(tool)
    slow = "Configs for client-id 'slow' are producer_byte_rate=1048576,consumer_byte_rate=2097152"
    default = "Configs for default client-id are producer_byte_rate=2048"
    assert tool("--describe", "--entity-type", "clients", zookeeper=True) == [default, slow]
    assert tool("--describe", "--client", "fast", zookeeper=True) == ["Configs for client-id 'fast' are "]
    of_user = "Configs for user-principal 'a b', default client-id are request_percentage=12.5"
    assert tool("--describe", "--entity-type", "users", "--entity-type", "clients", zookeeper=True) == [of_user]
    assert tool("--describe", "--user", "a b", "--client-defaults", zookeeper=True) == [of_user]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--alter", "--entity-type", "users", "--entity-type", "clients", "--entity-name", "u"), "must be specified"),
        (("--describe", "--entity-type", "clients", "--entity-name", "a", "--entity-name", "b"), "more entity names"),
        (("--describe", "--entity-type", "ips", "--entity-type", "users"), "only users and clients"),
        (("--describe", "--entity-type", "users", "--entity-type", "users"), "only users and clients"),
        (("--describe", "--entity-type", "users", "--client", "c"), "short forms"),
    ],
)
def test_flags_that_do_not_fit(tool: Tool, flags: tuple[str, ...], says: str) -> None:
    with pytest.raises(ToolError, match=says):
        tool(*flags)


@pytest.mark.parametrize("zookeeper", [False, True])
def test_bad_changes_are_refused(tool: Tool, zookeeper: bool) -> None:
    set_all(tool)
    with pytest.raises(ToolError, match="Cannot parse quota configuration value for producer_byte_rate: fast"):
        tool("--alter", "--client", "slow", "--add-config", "producer_byte_rate=fast", zookeeper=zookeeper)
    with pytest.raises(ToolError, match=r"Invalid config.*request_percentage"):
        tool("--alter", "--client", "slow", "--delete-config", "request_percentage", zookeeper=zookeeper)
    with pytest.raises(ApiError, match=r"producer_byte_rate must be a LONG value"):
        tool("--alter", "--client", "slow", "--add-config", "producer_byte_rate=1.5", zookeeper=zookeeper)
    largest = f"producer_byte_rate={(1 << 63) - 1}"
    tool("--alter", "--client", "slow", "--add-config", largest, zookeeper=zookeeper)
    assert tool.store.nodes["clients/slow"]["producer_byte_rate"] == str((1 << 63) - 1)
