"""Groups of old consumers in a ZooKeeper in memory: their rows, and what a deletion leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.clients.bootstrap_servers import parse_bootstrap_servers
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups import zk_consumer_group_service
from kafka_lite.tools.groups.consumer_group_service import PartitionRow
from kafka_lite.tools.groups.zk_consumer_group_service import ZkConsumerGroupService, bootstrap_servers, member_id
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.data import BrokerRegistration, ConsumerRegistration
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.fake_zookeeper import Tree, fake_zk
from tests.support.scripted_channel import ScriptedChannel, metadata, offsets

F0, F1, W0 = TopicPartition("flights", 0), TopicPartition("flights", 1), TopicPartition("weather", 0)
BUSY, IDLE = "office_host-1-aaaa", "office_host-2-bbbb"
BROKER = b'{"version":2,"host":"%s","port":9092,"jmx_port":-1,"timestamp":"0","endpoints":["PLAINTEXT://b:9092"]}'


@pytest.fixture
def zk() -> KafkaZkClient:
    zk = fake_zk(Tree())
    zk.zookeeper.create_recursive("/brokers/ids/1", BROKER % b"127.0.0.1")
    for topic, count in (("flights", 2), ("weather", 1)):
        assignment = ",".join(f'"{number}":[1]' for number in range(count))
        data = f'{{"version":1,"partitions":{{{assignment}}}}}'
        zk.zookeeper.create_recursive(f"/brokers/topics/{topic}", data.encode())
    return zk


@pytest.fixture
def groups(zk: KafkaZkClient) -> ConsumerGroups:
    """The group ``office`` with two members, of which one owns a partition, and ``gone`` without members."""
    groups = ConsumerGroups(zk)
    for member in (BUSY, IDLE):
        groups.register_consumer("office", member, ConsumerRegistration({"flights": 1}, "static", 1))
    groups.create_owner("office", F0, f"{BUSY}-0")
    groups.set_offset("office", F0, 33)
    groups.set_offset("office", F1, 5)
    zk.zookeeper.ensure_path("/consumers/gone/ids")
    for partition in (F0, W0):
        zk.zookeeper.ensure_path(f"/consumers/gone/owners/{partition.topic}")
        groups.set_offset("gone", partition, 7)
    return groups


def committed(found: dict[TopicPartition, int], error: int = 0) -> OffsetFetchResponse:
    topics = [
        OffsetFetchResponseTopic(
            name=topic, partitions=[OffsetFetchResponsePartition(partition_index=number, committed_offset=offset)]
        )
        for (topic, number), offset in found.items()
    ]
    return OffsetFetchResponse(topics=topics, error_code=error)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what the brokers answer to the service."""

    def answer(*responses: Any) -> None:
        channel = ScriptedChannel(metadata(F0, F1, W0), FindCoordinatorResponse(node_id=1), *responses)
        channel.connect = channel.refresh  # type: ignore[method-assign]
        monkeypatch.setattr(zk_consumer_group_service, "AdminChannel", lambda _servers: channel)

    return answer


def test_rows_have_owners_and_offsets_of_zookeeper_then_members_without_partitions(
    zk: KafkaZkClient, groups: ConsumerGroups, answers: Callable[..., None]
) -> None:
    answers(committed({}), offsets({F0: 40, F1: 9}))
    first, second, idle = ZkConsumerGroupService(zk).rows("office")
    assert (first.partition, first.offset, first.log_end_offset, first.lag) == (0, 33, 40, 7)
    assert first.member is not None
    assert first.member.member_id == BUSY
    assert (second.partition, second.offset, second.lag, second.member) == (1, 5, 4, None)
    assert (idle.topic, idle.partition, idle.offset) == (None, None, None)
    assert idle.member is not None
    assert idle.member.member_id == IDLE


def test_an_offset_of_the_coordinator_takes_precedence(
    zk: KafkaZkClient, groups: ConsumerGroups, answers: Callable[..., None]
) -> None:
    answers(committed({F0: 39}), offsets({F0: 40, F1: 9}))
    rows = ZkConsumerGroupService(zk).rows("office")
    assert [row.offset for row in rows[:2]] == [39, 5]


def test_a_log_end_that_is_not_known_is_an_error_of_its_row(
    zk: KafkaZkClient, groups: ConsumerGroups, answers: Callable[..., None]
) -> None:
    answers(committed({}), offsets({F0: Errors.TOPIC_AUTHORIZATION_FAILED, F1: 9}))
    first, second, _ = ZkConsumerGroupService(zk).rows("office")
    assert (first.log_end_offset, first.lag, first.error) == (None, None, Errors.TOPIC_AUTHORIZATION_FAILED)
    assert (second.lag, second.error) == (4, Errors.NONE)


def test_a_topic_that_was_deleted_has_no_rows(
    zk: KafkaZkClient, groups: ConsumerGroups, answers: Callable[..., None]
) -> None:
    zk.zookeeper.delete("/brokers/topics/weather")
    answers(committed({}), offsets({F0: 40, F1: 9}))
    assert [(row.topic, row.partition) for row in ZkConsumerGroupService(zk).rows("gone")] == [F0, F1]


def test_an_unknown_group_is_an_error(zk: KafkaZkClient, groups: ConsumerGroups) -> None:
    with pytest.raises(ToolError, match="group 'nobody' does not exist"):
        ZkConsumerGroupService(zk).rows("nobody")


def test_no_plaintext_broker_is_an_error(zk: KafkaZkClient, groups: ConsumerGroups) -> None:
    zk.zookeeper.delete("/brokers/ids/1")
    with pytest.raises(ToolError, match="no broker with a PLAINTEXT listener"):
        ZkConsumerGroupService(zk).rows("office")


def test_brokers_without_a_plaintext_listener_are_not_asked() -> None:
    brokers = {2: BrokerRegistration((), host="b", port=9092), 1: BrokerRegistration(())}
    assert bootstrap_servers(brokers) == "b:9092"


def test_an_ipv6_address_of_a_broker_can_be_connected_to() -> None:
    servers = bootstrap_servers({1: BrokerRegistration((), host="::1", port=9092)})
    assert parse_bootstrap_servers(servers) == [("::1", 9092)]


def test_a_thread_belongs_to_the_member_before_its_last_hyphen() -> None:
    assert member_id("g_host-1795248570284-adab17da-12") == "g_host-1795248570284-adab17da"


# ── Deletion ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("group", ["office", "nobody"])
def test_a_group_with_members_or_without_data_is_not_deleted(
    zk: KafkaZkClient, groups: ConsumerGroups, group: str
) -> None:
    service, before = ZkConsumerGroupService(zk), groups.get_all_offsets("office")
    reason = "its consumers are still active" if group == "office" else "group does not exist"
    with pytest.raises(ToolError, match=f"Delete for group '{group}' failed because {reason}"):
        service.delete_group(group)
    with pytest.raises(ToolError, match=f"Delete for group '{group}' topic 'flights' failed because {reason}"):
        service.delete_topic_of_group(group, "flights")
    assert groups.get_all_offsets("office") == before


def test_a_group_is_deleted_with_its_offsets(zk: KafkaZkClient, groups: ConsumerGroups) -> None:
    assert "Deleted all consumer group information" in ZkConsumerGroupService(zk).delete_group("gone")
    assert groups.get_groups() == ["office"]
    assert groups.get_all_offsets("gone") == {}


def test_a_topic_is_deleted_from_a_group_and_the_last_one_with_it(zk: KafkaZkClient, groups: ConsumerGroups) -> None:
    service = ZkConsumerGroupService(zk)
    service.delete_topic_of_group("gone", "flights")
    assert (groups.get_topics_of_group("gone"), groups.get_all_offsets("gone")) == (["weather"], {W0: 7})
    service.delete_topic_of_group("gone", "weather")
    assert groups.get_groups() == ["office"]


def test_a_topic_is_deleted_from_the_groups_without_members(zk: KafkaZkClient, groups: ConsumerGroups) -> None:
    ZkConsumerGroupService(zk).delete_topic("flights")
    assert groups.get_all_offsets("gone") == {W0: 7}
    assert groups.get_all_offsets("office") == {F0: 33, F1: 5}


def test_a_row_without_an_offset_has_no_lag() -> None:
    assert PartitionRow("g", "t", 0, None, 5).lag is None
