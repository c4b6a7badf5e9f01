"""Followers whose logs diverge, with leaders that compare the logs when they are fetched from (KIP-595).

Kafka 3.9.1 and our broker lead the same partition in turn. The inter-broker protocol is 2.7-IV1, the first that has it.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka import Producer

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from tests.support.eventually import eventually
from tests.support.mixed_cluster import OURS, MixedCluster, assert_replicas_are_equal, mixed_cluster
from tests.support.patient_clients import flush
from tests.support.real_kafka import TODAYS

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]

TOPIC, US, THEM = "compared", 1, 2
PROTOCOL = {
    "inter.broker.protocol.version": "2.7-IV1",
    "log.message.format.version": "2.7-IV1",
    "min.insync.replicas": "1",
    "unclean.leader.election.enable": "true",
}
DIVERGES = "Truncating partition compared-0"


def write(cluster: MixedCluster, *values: str) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "1"})
    for value in values:
        producer.produce(TOPIC, value.encode(), partition=0)
    flush(producer)


def await_leader(cluster: MixedCluster, broker_id: int) -> None:
    eventually(lambda: cluster.led_by(broker_id, TOPIC) == {0}, lambda: cluster.states(TOPIC))


def answer(cluster: MixedCluster, broker_id: int, last_epoch: int, offset: int) -> tuple[object, ...]:
    """What a broker answers to a reader with records of ``last_epoch`` up to ``offset``."""
    asked = FetchPartition(partition=0, fetch_offset=offset, last_fetched_epoch=last_epoch, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic=TOPIC, partitions=[asked])]
    request = FetchRequest(replica_id=-1, max_wait_ms=0, min_bytes=0, topics=topics)
    host, _, port = cluster.brokers[broker_id].process.bootstrap_servers.rpartition(":")
    with BlockingChannel(host, int(port), read_timeout_ms=60_000) as channel:
        response = cast(FetchResponse, channel.exchange(request, 12))
    data: PartitionData = response.responses[0].partitions[0]
    diverging = (data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
    records = bytes(data.records or b"")  # type: ignore[arg-type]
    return data.error_code, diverging, data.high_watermark, data.log_start_offset, records


@pytest.mark.parametrize("behind", [US, THEM])
def test_a_follower_with_records_that_no_other_has_truncates_on_the_first_fetch(tmp_path: Path, behind: int) -> None:
    """``behind`` leads alone, and writes; then the other leads with what it has, and ``behind`` returns to follow."""
    other = US + THEM - behind
    with mixed_cluster(tmp_path, {US: OURS, THEM: TODAYS}, PROTOCOL) as cluster:
        cluster.start_broker(US)
        cluster.start_broker(THEM)
        cluster.create_assigned(TOPIC, {0: [behind, other]})
        write(cluster, "both", "have")
        cluster.await_in_sync(TOPIC)
        cluster.brokers[other].kill()
        eventually(lambda: list(cluster.states(TOPIC)[0].isr) == [behind], lambda: cluster.states(TOPIC))
        write(cluster, "never", "copied")
        cluster.brokers[behind].kill()
        cluster.start_broker(other)
        await_leader(cluster, other)
        write(cluster, "instead")
        cluster.start_broker(behind)
        cluster.await_in_sync(TOPIC)
        assert DIVERGES in cluster.brokers[behind].log()
        assert_replicas_are_equal(cluster, TOPIC)
        assert_both_compare_alike(cluster, leader=other)


def assert_both_compare_alike(cluster: MixedCluster, leader: int) -> None:
    """The leader, and the other once it leads, answer the same to followers with any epoch and offset."""
    epochs = range(-1, 12)
    cases = list(itertools.product(epochs, range(7)))
    found = []
    for broker_id in (leader, US + THEM - leader):
        if broker_id != leader:
            cluster.stop_broker(leader)
            await_leader(cluster, broker_id)
        found.append({case: answer(cluster, broker_id, *case) for case in cases})
    first, second = found
    unequal = {case: (first[case], second[case]) for case in cases if first[case] != second[case]}
    newest = max(epoch for (epoch, _), (error, *_) in first.items() if error == 0)
    assert {case for case in unequal if case[0] <= newest} == set(), unequal
    assert len({each[1] for each in first.values()}) >= 3, "there are logs that diverge at several places"
