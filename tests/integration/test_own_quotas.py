"""A broker whose quotas are those of a Python class of the user (KIP-257)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.server.quotas.quota_type import QuotaType
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from tests.support.eventually import eventually
from tests.support.own_quotas import DEFAULT_KEY, GroupQuotas

CLASS = "tests.support.own_quotas.GroupQuotas"
RATE = 10_000
BODY = memory_records(2, CompressionType.NONE, [(None, b"x" * (11 * RATE))], timestamp=1)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setattr(GroupQuotas, "instances", [])
    with Cluster({"client.quota.callback.class": CLASS, "log.retention.ms": "-1"}) as cluster:
        yield cluster


def callback() -> GroupQuotas:
    (found,) = GroupQuotas.instances
    return found


def alter(cluster: Cluster, *arguments: str) -> None:
    assert main(["configs", "--bootstrap-server", cluster.bootstrap_servers, "--alter", *arguments]) == 0


def delay_of(cluster: Cluster, client_id: str) -> int:
    """Produce eleven seconds' worth, and return the throttle time in ms."""
    host, port = cluster.bootstrap_servers.split(":")
    data = PartitionProduceData(index=0, records=BODY)
    request = ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[TopicProduceData(name="t", partition_data=[data])])
    with BlockingChannel(host, int(port), client_id=client_id) as channel:
        response: Any = channel.exchange(request, 7)
    assert response.responses[0].partition_responses[0].error_code == 0
    return int(response.throttle_time_ms)


def test_the_class_decides_follows_changes_and_its_errors_harm_nobody(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.create_topic("t")
    assert delay_of(cluster, "free") == 0
    assert callback().calls[-1][1].name == "ANONYMOUS"
    alter(cluster, "--user", "_", "--add-config", f"producer_byte_rate={RATE}")  # of all without a group
    eventually(lambda: callback().quotas.get((QuotaType.PRODUCE, "")) == RATE)
    assert delay_of(cluster, "any") >= 900
    assert delay_of(cluster, "broken") == 0
    assert "tags of PRODUCE failed" in caplog.text
    alter(cluster, "--broker-defaults", "--add-config", f"{DEFAULT_KEY}={1000 * RATE}")
    eventually(lambda: callback().quotas[QuotaType.PRODUCE, ""] == 1000 * RATE)
    assert delay_of(cluster, "any") == 0


def test_it_knows_the_leaders_of_the_cluster(cluster: Cluster) -> None:
    cluster.create_topic("red_topic", partitions=4)
    eventually(lambda: callback().parts.get("red") == 1)
    assert callback().closed == 0
    cluster.stop()
    assert callback().closed == 1


def test_another_class_is_refused_at_the_start() -> None:
    keys = {"client.quota.callback.class": "tests.support.own_quotas.NoQuotas"}
    with pytest.raises(ConfigError, match="is not a ClientQuotaCallback"), Cluster(keys):
        pass
