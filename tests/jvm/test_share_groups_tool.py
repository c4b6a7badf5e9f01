"""``kafka-share-groups.sh`` of Kafka 4.1 and ours: what they say of our brokers' share groups, and do to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.common.topic_names import SHARE_GROUP_STATE_TOPIC_NAME
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_76_share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.kafka_tools import KafkaTools, our_tool, words

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

DUMP = "kafka.tools.DumpLogSegments"
TOOL = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
QUESTIONS = [
    ("--list",),
    ("--list", "--state"),
    ("--describe", "--group", "g"),
    ("--describe", "--group", "g", "--verbose"),
    ("--describe", "--group", "g", "--members"),
    ("--describe", "--group", "g", "--members", "--verbose"),
    ("--describe", "--group", "g", "--state"),
    ("--describe", "--group", "g", "--state", "--verbose"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.coordinator.rebalance.protocols": "classic,consumer,share"}) as running:
        running.create_topic("orders", 2)
        running.produce("orders", "one", partition=0)
        yield running


def records_of(dump: str) -> list[str]:
    return [line for line in dump.splitlines() if "payload:" in line]


def heartbeat(cluster: Cluster, epoch: int, group: str = "g") -> bool:
    """Send a heartbeat of the only member; returns whether the group has it with partitions, or without it."""
    host, _, port = cluster.bootstrap_servers.rpartition(":")
    channel = BlockingChannel(host, int(port), client_id="c", read_timeout_ms=60_000)
    channel.connect()
    channel.exchange(FindCoordinatorRequest(coordinator_keys=[group]), 4)  # creates the topic of groups
    request = ShareGroupHeartbeatRequest(
        group_id=group, member_id="m", member_epoch=epoch, subscribed_topic_names=["orders"]
    )
    response = channel.exchange(request, 1)
    channel.close()
    assigned = response.assignment is not None and bool(response.assignment.topic_partitions)  # type: ignore[attr-defined]
    return not response.error_code and (assigned or epoch < 0)  # type: ignore[attr-defined, no-any-return]


def test_kafka_s_tool_and_ours_say_and_do_the_same(cluster: Cluster) -> None:
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    with KafkaTools("4.1.0") as tools:

        def both(*arguments: str) -> list[list[str]]:
            theirs = [line for line in words(tools.run(TOOL, *where, *arguments).output) if line]
            ours = [line for line in words(our_tool("share-groups", *where, *arguments).output) if line]
            assert theirs == ours, arguments
            return ours

        eventually(lambda: heartbeat(cluster, 0))
        for question in QUESTIONS:
            both(*question)
        eventually(lambda: heartbeat(cluster, -1))
        reset = ("--reset-offsets", "--group", "g", "--topic", "orders", "--to-latest", "--execute")
        assert our_tool("share-groups", *where, *reset).code == 0
        assert both("--describe", "--group", "g")[1:] == [["g", "orders", "0", "1"], ["g", "orders", "1", "0"]]
        forget = ("--delete-offsets", "--group", "g", "--topic", "orders")
        assert ["orders", "Successful"] in words(tools.run(TOOL, *where, *forget).output)
        assert "There is no offset information to delete." in our_tool("share-groups", *where, *forget).output
        assert "was successful" in tools.run(TOOL, *where, "--delete", "--group", "g").output
        assert both("--list") == []
        logs = sorted(cluster.data_dir.glob(f"**/{SHARE_GROUP_STATE_TOPIC_NAME}-*/*.log"))
        files = ",".join(str(log) for log in logs if log.stat().st_size)
        theirs = tools.run(DUMP, "--share-group-state-decoder", "--files", files).output
        ours = our_tool("dump-log", "--share-group-state-decoder", "--files", files).output
        assert "snapshotEpoch" in ours
        assert records_of(theirs) == records_of(ours)
