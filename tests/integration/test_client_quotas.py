"""Quotas in ZooKeeper reach a running broker, which delays old clients and new ones, each in its way."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kafka_lite.admin.admin_utils import AdminUtils
from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest
from kafka_lite.protocol.messages.api_48_describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from kafka_lite.protocol.messages.api_49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.server.quotas.client_quota_managers import ClientQuotaManagers
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from tests.support.eventually import eventually
from tests.support.patience import patient_s

RATE = 10_000
DELAY_MS = 300
BODY = memory_records(2, CompressionType.NONE, [(None, b"x" * (10 * RATE + RATE * DELAY_MS // 1000))], timestamp=1)
OLD_BODY = memory_records(1, CompressionType.NONE, [(None, b"x" * (10 * RATE + RATE * DELAY_MS // 1000))], timestamp=1)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"log.retention.ms": "-1"}) as cluster:
        cluster.create_topic("t")
        yield cluster


def quotas_of(cluster: Cluster) -> ClientQuotaManagers:
    return cluster.server.quotas.clients


def limit(cluster: Cluster, path: str, **config: object) -> None:
    """Write a quota as Kafka's tools do, and wait until the broker has applied it."""
    managers = [quotas_of(cluster).produce, quotas_of(cluster).fetch, quotas_of(cluster).controller_mutation]
    before = [manager._callback._overridden for manager in managers]
    AdminUtils(cluster.server.zk_client).change_entity_config(path, {key: str(value) for key, value in config.items()})
    eventually(lambda: all(a is not b._callback._overridden for a, b in zip(before, managers, strict=True)))


@contextmanager
def client(cluster: Cluster, client_id: str) -> Iterator[BlockingChannel]:
    host, port = cluster.bootstrap_servers.split(":")
    with BlockingChannel(host, int(port), client_id=client_id) as channel:
        yield channel


def produce(records: bytes | memoryview, acks: int = 1) -> ProduceRequest:
    data = PartitionProduceData(index=0, records=records)
    return ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=[TopicProduceData(name="t", partition_data=[data])])


def fetch(offset: int) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1_000_000)
    return FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=1_000_000, topics=[FetchTopic(topic="t", partitions=[partition])]
    )


def elapsed_ms(channel: BlockingChannel, request: Any, version: int) -> tuple[float, Any]:
    started = time.monotonic()
    response = channel.exchange(request, version)
    return (time.monotonic() - started) * 1000, response


def test_a_new_producer_has_its_response_and_waits_with_the_next_request(cluster: Cluster) -> None:
    limit(cluster, "clients/new", producer_byte_rate=RATE)
    with client(cluster, "new") as channel:
        response: Any = channel.exchange(produce(BODY), 7)
        assert response.throttle_time_ms >= DELAY_MS
        waited_ms, _ = elapsed_ms(channel, MetadataRequest(topics=[]), 8)
        assert waited_ms >= response.throttle_time_ms - 50


def test_an_old_producer_waits_for_its_response(cluster: Cluster) -> None:
    limit(cluster, "clients/old", producer_byte_rate=RATE)
    with client(cluster, "old") as channel:
        waited_ms, response = elapsed_ms(channel, produce(OLD_BODY), 2)
        assert response.throttle_time_ms >= DELAY_MS
        assert waited_ms >= response.throttle_time_ms
        assert response.responses[0].partition_responses[0].error_code == 0


def test_a_new_consumer_gets_records_again_after_its_delay_and_an_old_one_late(cluster: Cluster) -> None:
    with client(cluster, "unlimited") as channel:
        produced: Any = channel.exchange(produce(BODY), 7)
        offset = produced.responses[0].partition_responses[0].base_offset
        assert produced.throttle_time_ms == 0
    limit(cluster, "users/ANONYMOUS/clients/reader", consumer_byte_rate=RATE)
    with client(cluster, "reader") as channel:
        first: Any = channel.exchange(fetch(offset), 8)  # (a consumer gets its first batch, whatever it measures)
        assert first.throttle_time_ms >= DELAY_MS
        assert first.responses == []
    limit(cluster, "users/ANONYMOUS/clients/reader", consumer_byte_rate=len(BODY))
    with client(cluster, "reader") as channel:
        eventually(lambda: channel.exchange(fetch(offset), 8).responses)  # type: ignore[attr-defined]
    limit(cluster, "clients/old-reader", consumer_byte_rate=RATE)
    with client(cluster, "old-reader") as channel:
        waited_ms, old = elapsed_ms(channel, fetch(offset), 4)
        assert waited_ms >= old.throttle_time_ms >= DELAY_MS
        assert len(old.responses[0].partitions[0].records) >= len(BODY)


def test_whoever_creates_partitions_faster_than_its_quota_is_refused_or_delayed(cluster: Cluster) -> None:
    limit(cluster, "users/ANONYMOUS/clients/admin", controller_mutation_rate=1)
    with client(cluster, "admin") as channel:
        topics = [CreatableTopic(name=f"many-{n}", num_partitions=12, replication_factor=1) for n in range(2)]
        response: Any = channel.exchange(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 7)
        codes = {topic.name: topic.error_code for topic in response.topics}
        assert sorted(codes.values()) == [0, 89], "THROTTLING_QUOTA_EXCEEDED"
        (refused,) = [name for name, code in codes.items() if code]
        assert response.throttle_time_ms > 0
    assert not cluster.server.metadata_cache.contains(refused)


def test_request_time_is_limited_and_a_removed_quota_no_longer_counts(cluster: Cluster) -> None:
    limit(cluster, "clients/busy", request_percentage="0.00001")
    with client(cluster, "busy") as channel:
        throttled: Any = channel.exchange(MetadataRequest(topics=[]), 8)
        assert throttled.throttle_time_ms > 0
    limit(cluster, "clients/busy")
    with client(cluster, "busy") as channel:
        response: Any = channel.exchange(MetadataRequest(topics=[]), 8)
        assert response.throttle_time_ms == 0


def test_addresses_have_a_rate_of_new_connections(cluster: Cluster) -> None:
    rates = cluster.server.socket_server.connection_rates
    utils = AdminUtils(cluster.server.zk_client)
    utils.change_entity_config("ips/<default>", {"connection_creation_rate": "7"})
    utils.change_entity_config("ips/127.0.0.9", {"connection_creation_rate": "0"})
    eventually(lambda: rates.connection_rate_for_ip("127.0.0.9") == 0)
    assert rates.connection_rate_for_ip("10.0.0.1") == 7
    host, port = cluster.bootstrap_servers.split(":")
    with socket.create_connection((host, int(port)), timeout=patient_s(30), source_address=("127.0.0.9", 0)) as refused:
        assert refused.recv(1) == b"", "after a delay of one window"
    for name in ("<default>", "127.0.0.9"):
        utils.change_entity_config(f"ips/{name}", {})
    eventually(lambda: rates.connection_rate_for_ip("127.0.0.9") == rates.connection_rate_for_ip("10.0.0.1") > 7)


@pytest.mark.parametrize("version", [0, 1])
def test_quotas_are_set_and_described_through_a_broker(cluster: Cluster, version: int) -> None:
    entity = [EntityData(entity_type="user", entity_name="a/b"), EntityData(entity_type="client-id", entity_name=None)]
    ops = [OpData(key="producer_byte_rate", value=2e6), OpData(key="request_percentage", value=0.5)]
    removals = [OpData(key=op.key, remove=True) for op in ops]
    component = ComponentData(entity_type="user", match_type=0, match="a/b")
    with client(cluster, "any") as channel:
        for changes, expected in ((ops, [("producer_byte_rate", 2e6), ("request_percentage", 0.5)]), (removals, [])):
            request = AlterClientQuotasRequest(entries=[EntryData(entity=entity, ops=changes)])
            altered: Any = channel.exchange(request, version)
            assert [(each.error_code, each.error_message) for each in altered.entries] == [(0, None)]
            found: Any = channel.exchange(DescribeClientQuotasRequest(components=[component]), version)
            assert [(value.key, value.value) for entry in found.entries for value in entry.values] == expected
            bound = 2e6 if expected else UNLIMITED
            eventually(lambda: quotas_of(cluster).produce.quota("a%2Fb", "x").bound == bound)  # noqa: B023


def test_the_tool_sets_quotas_through_a_broker_and_in_zookeeper(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    broker = ("--bootstrap-server", cluster.bootstrap_servers)
    zookeeper = ("--zookeeper", cluster.zookeeper_connect)
    chosen = ("--user-defaults", "--client", "by-tool")
    assert main(["configs", *broker, "--alter", *chosen, "--add-config", "producer_byte_rate=5000"]) == 0
    assert main(["configs", *zookeeper, "--alter", *chosen, "--add-config", "consumer_byte_rate=6000"]) == 0
    produce, fetch = quotas_of(cluster).produce, quotas_of(cluster).fetch
    eventually(lambda: (produce.quota("u", "by-tool").bound, fetch.quota("u", "by-tool").bound) == (5000, 6000))
    capsys.readouterr()
    assert main(["configs", *broker, "--describe", *chosen]) == 0
    assert main(["configs", *zookeeper, "--describe", *chosen]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Quota configs for the default user-principal, client-id 'by-tool' are "
        "consumer_byte_rate=6000.0, producer_byte_rate=5000.0",
        "Configs for default user-principal, client-id 'by-tool' are producer_byte_rate=5000,consumer_byte_rate=6000",
    ]
    delete = ("--delete-config", "producer_byte_rate,consumer_byte_rate")
    assert main(["configs", *broker, "--alter", *chosen, *delete]) == 0


def test_quotas_are_applied_when_a_broker_starts(cluster: Cluster) -> None:
    limit(cluster, "users/<default>/clients/<default>", producer_byte_rate=12345)
    cluster.restart()
    assert quotas_of(cluster).produce.quota("ANONYMOUS", "any").bound == 12345
    limit(cluster, "users/<default>/clients/<default>")
