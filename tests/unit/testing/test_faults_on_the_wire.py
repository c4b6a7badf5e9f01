"""Faults as a client sees them: bytes on a socket, in response to hand-made requests."""

import socket
import threading
import time

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel, NotConnectedError, ResponseTimeoutError
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.testing import fault_list
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

PRODUCE_VERSION = 8
FETCH_VERSION = 11


@pytest.fixture(scope="module")
def running():
    with Cluster({"log.retention.ms": -1}) as cluster:  # the records have timestamps of 1970
        for topic in ("a", "b"):
            cluster.create_topic(topic, partitions=2)
        yield cluster


@pytest.fixture
def cluster(running):
    running.reset()
    yield running
    running.reset()


@pytest.fixture
def channel(cluster):
    with connect(cluster) as channel:
        yield channel


def connect(cluster, timeout_ms=30_000):
    host, port = cluster.bootstrap_servers.split(":")
    return BlockingChannel(host, int(port), client_id="test", read_timeout_ms=timeout_ms)


def records(value=b"v"):
    builder = MemoryRecordsBuilder()
    builder.append(1, None, value)
    return builder.build()


def produce(*places, acks=-1):
    topics = {}
    for topic, partition in places or [("a", 0)]:
        topics.setdefault(topic, []).append(PartitionProduceData(index=partition, records=records()))
    data = [TopicProduceData(name=name, partition_data=partitions) for name, partitions in topics.items()]
    return ProduceRequest(acks=acks, timeout_ms=5000, topic_data=data)


def codes(response):
    """(topic, partition) -> error"""
    return {
        (topic.name, partition.index): Errors.for_code(partition.error_code)
        for topic in response.responses
        for partition in topic.partition_responses
    }


def size(cluster, topic="a"):
    return len(cluster.records(topic))


def test_an_error_is_returned_and_the_request_is_not_handled(cluster, channel):
    before = size(cluster)
    fault = cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()
    assert codes(channel.exchange(produce(), PRODUCE_VERSION)) == {("a", 0): Errors.NOT_LEADER_OR_FOLLOWER}
    assert size(cluster) == before
    assert fault.count == 1
    assert codes(channel.exchange(produce(), PRODUCE_VERSION)) == {("a", 0): Errors.NONE}
    assert size(cluster) == before + 1
    assert [seen.fault for seen in cluster.requests] == ["PRODUCE: NOT_LEADER_OR_FOLLOWER", ""]


def test_an_error_of_one_partition_does_not_affect_the_others(cluster, channel):
    cluster.inject("Produce", Errors.NOT_ENOUGH_REPLICAS).for_topic("a", partition=1).once()
    before = size(cluster, "a"), size(cluster, "b")
    response = channel.exchange(produce(("a", 0), ("a", 1), ("b", 1)), PRODUCE_VERSION)
    assert codes(response) == {("a", 0): Errors.NONE, ("a", 1): Errors.NOT_ENOUGH_REPLICAS, ("b", 1): Errors.NONE}
    assert (size(cluster, "a"), size(cluster, "b")) == (before[0] + 1, before[1] + 1)


def test_an_error_with_acks_0_closes_the_connection(cluster, channel):
    cluster.inject("Produce", Errors.NOT_ENOUGH_REPLICAS).once()
    channel.send(produce(acks=0), PRODUCE_VERSION, expect_response=False)
    with pytest.raises(NotConnectedError):
        channel.exchange(MetadataRequest(topics=[]), 5)


def test_metadata_fails_except_for_its_brokers(cluster, channel):
    cluster.inject("Metadata", Errors.LEADER_NOT_AVAILABLE).for_topic("a").once()
    response = channel.exchange(MetadataRequest(topics=None), 5)
    failed = {topic.name: topic.error_code for topic in response.topics}
    assert failed == {"a": Errors.LEADER_NOT_AVAILABLE.code, "b": 0}
    assert len(response.brokers) == 1


def test_a_partly_failed_fetch_responds_at_once(cluster, channel):
    cluster.inject("Fetch", Errors.OFFSET_OUT_OF_RANGE).for_topic("a", partition=0).once()
    end = len(cluster.records("b", 1))
    asked = [
        FetchTopic(topic="a", partitions=[FetchPartition(partition=0, partition_max_bytes=100)]),
        FetchTopic(topic="b", partitions=[FetchPartition(partition=1, fetch_offset=end, partition_max_bytes=100)]),
    ]
    request = FetchRequest(max_wait_ms=60_000, min_bytes=1, max_bytes=1000, topics=asked)
    response = channel.exchange(request, FETCH_VERSION, 5000)
    found = {(t.topic, p.partition_index): p.error_code for t in response.responses for p in t.partitions}
    assert found == {("a", 0): Errors.OFFSET_OUT_OF_RANGE.code, ("b", 1): 0}


def test_a_dropped_request_is_not_handled(cluster, channel):
    before = size(cluster)
    cluster.inject("Produce").drop_request().once()
    with pytest.raises(NotConnectedError):
        channel.exchange(produce(), PRODUCE_VERSION)
    assert size(cluster) == before


def test_a_request_whose_response_is_dropped_has_been_handled(cluster, channel):
    before = size(cluster)
    cluster.inject("Produce").drop_response().once()
    with pytest.raises(NotConnectedError):
        channel.exchange(produce(), PRODUCE_VERSION)
    assert size(cluster) == before + 1


def test_no_response_keeps_the_connection_open(cluster, channel):
    before = size(cluster)
    cluster.inject("Produce").no_response().once()
    with pytest.raises(ResponseTimeoutError):
        channel.exchange(produce(), PRODUCE_VERSION, timeout_ms=100)
    assert size(cluster) == before + 1


@pytest.mark.parametrize(("after", "expected"), [(0, 4), (5, 9), (None, None), (10**6, None)])
def test_a_response_is_cut_within_its_frame(cluster, after, expected):
    cluster.inject("ApiVersions").cut_response(after).once()
    frame = bytes.fromhex("0000000e 0012 0000 0000 0001 0004 74657374")
    host, port = cluster.bootstrap_servers.split(":")
    with socket.create_connection((host, int(port)), timeout=patient_s(60)) as sock:
        sock.sendall(frame)
        got = b""
        while data := sock.recv(65536):
            got += data
    promised = 4 + int.from_bytes(got[:4], "big")
    if expected is None:
        expected = 4 + (promised - 4) // 2 if after is None else promised - 1
    assert len(got) == expected < promised


def test_a_slow_response_is_complete(cluster, channel):
    whole = channel.exchange(ApiVersionsRequest(), 0)
    cluster.inject("ApiVersions").slow_response(bytes_per_s=1000).once()
    began = time.monotonic()
    assert channel.exchange(ApiVersionsRequest(), 0) == whole
    assert time.monotonic() - began > 0.08  # about 110 bytes


def test_a_slow_response_does_not_block_others(cluster, channel):
    cluster.inject("ApiVersions").slow_response(bytes_per_s=0.1).once()  # this response takes a quarter of an hour
    channel.send(ApiVersionsRequest(), 0)
    cluster.requests.wait_for("ApiVersions")
    channels = [connect(cluster) for _ in range(6)]  # more than there are network threads
    for other in channels:
        with other:
            other.exchange(ApiVersionsRequest(), 0)
    with pytest.raises(ResponseTimeoutError):
        channel.receive(20)


def test_a_delay_comes_before_or_after_the_handling(cluster, channel):
    before = size(cluster)
    cluster.inject("Produce").delay(10_000).once()
    channel.send(produce(), PRODUCE_VERSION)
    cluster.requests.wait_for("Produce")
    assert size(cluster) == before
    cluster.time.advance(seconds=10)
    assert codes(channel.receive()) == {("a", 0): Errors.NONE}

    cluster.inject("Produce").delay_response(10_000).once()
    channel.send(produce(), PRODUCE_VERSION)
    cluster.requests.wait_for("Produce", count=2)
    cluster.wait_for_records("a", before + 2)
    with pytest.raises(ResponseTimeoutError):
        channel.receive(50)


def test_a_delay_can_precede_an_error(cluster, channel):
    cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).delay(20).once()
    began = time.monotonic()
    assert codes(channel.exchange(produce(), PRODUCE_VERSION)) == {("a", 0): Errors.NOT_LEADER_OR_FOLLOWER}
    assert time.monotonic() - began > 0.019


def test_requests_after_a_fault_are_answered_in_order(cluster, channel):
    cluster.inject("ApiVersions").delay(30).once()
    for _ in range(20):
        channel.send(ApiVersionsRequest(), 0)
    for _ in range(20):
        channel.receive()  # raises if a response is not the one to the oldest request


def test_a_paused_broker_sends_no_responses_until_it_resumes(cluster, channel):
    before = size(cluster)
    with cluster.paused():
        channel.send(produce(), PRODUCE_VERSION)
        cluster.requests.wait_for("Produce")
        with connect(cluster) as other:  # connections are still accepted
            other.send(MetadataRequest(topics=[]), 5)
            with pytest.raises(ResponseTimeoutError):
                other.receive(50)
        assert size(cluster) == before
    assert codes(channel.receive()) == {("a", 0): Errors.NONE}
    assert size(cluster) == before + 1


def test_a_pause_holds_responses_back_too(cluster, channel):
    end = len(cluster.records("a", 0))
    asked = [FetchTopic(topic="a", partitions=[FetchPartition(partition=0, fetch_offset=end, partition_max_bytes=999)])]
    channel.send(FetchRequest(max_wait_ms=60_000, min_bytes=1, max_bytes=1000, topics=asked), FETCH_VERSION)
    cluster.requests.wait_for("Fetch")
    cluster.pause()
    cluster.produce("a", "wakes the fetch")
    with connect(cluster) as other:
        other.send(ApiVersionsRequest(), 0)
        with pytest.raises(ResponseTimeoutError):
            other.receive(50)
    cluster.resume()
    response = channel.receive()
    assert response.responses[0].partitions[0].records


def test_all_connections_can_be_closed(cluster):
    channels = [connect(cluster) for _ in range(4)]
    for channel in channels:
        channel.connect()
        channel.exchange(ApiVersionsRequest(), 0)
    cluster.disconnect_all()
    for channel in channels:
        with pytest.raises(NotConnectedError):
            channel.exchange(ApiVersionsRequest(), 0)
    with connect(cluster) as channel:
        channel.exchange(ApiVersionsRequest(), 0)


def test_a_waiting_request_is_dropped_with_its_connection(cluster, channel):
    end = len(cluster.records("a", 0))
    asked = [FetchTopic(topic="a", partitions=[FetchPartition(partition=0, fetch_offset=end, partition_max_bytes=999)])]
    channel.send(FetchRequest(max_wait_ms=60_000, min_bytes=1, max_bytes=1000, topics=asked), FETCH_VERSION)
    cluster.requests.wait_for("Fetch")
    cluster.disconnect_all()
    with pytest.raises(NotConnectedError):
        channel.receive()


def test_the_first_matching_fault_occurs(cluster, channel):
    first = cluster.inject("Produce", Errors.NOT_ENOUGH_REPLICAS).once()
    second = cluster.inject(None, Errors.NOT_LEADER_OR_FOLLOWER).always()
    assert codes(channel.exchange(produce(), PRODUCE_VERSION)) == {("a", 0): Errors.NOT_ENOUGH_REPLICAS}
    assert codes(channel.exchange(produce(), PRODUCE_VERSION)) == {("a", 0): Errors.NOT_LEADER_OR_FOLLOWER}
    assert cluster.faults == [first, second]
    second.remove()
    assert codes(channel.exchange(produce(), PRODUCE_VERSION)) == {("a", 0): Errors.NONE}


def test_a_fault_without_a_count_is_reported(cluster):
    cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER)
    with pytest.raises(RuntimeError, match="not in force"):
        cluster.inject("Fetch")
    assert len(cluster.unarmed_faults) == 1


def test_a_failing_predicate_closes_the_connection_and_is_logged(cluster, channel, caplog):
    cluster.inject("Produce").when(lambda header, body: body.no_such_field).drop_response().once()
    with pytest.raises(NotConnectedError):
        channel.exchange(produce(), PRODUCE_VERSION)
    assert "no_such_field" in caplog.text


def test_an_internal_error_after_a_pause_closes_only_its_connection(cluster, channel, caplog, monkeypatch):
    def broken(*_):
        raise RuntimeError("out of order")

    asked = [ListOffsetsTopic(name="a", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)])]
    with connect(cluster) as other:
        with cluster.paused():
            monkeypatch.setattr(cluster.server.replica_manager, "get_leader_log", broken)
            other.send(ListOffsetsRequest(replica_id=-1, topics=asked), 3)
            cluster.requests.wait_for("ListOffsets")
            channel.send(ApiVersionsRequest(), 0)
            cluster.requests.wait_for("ApiVersions")
        assert channel.receive().error_code == 0
        with pytest.raises(NotConnectedError):
            other.receive()
    assert "out of order" in caplog.text


def test_a_fault_in_an_unserved_api_is_rejected(cluster, monkeypatch):
    monkeypatch.delitem(fault_list.SERVED_VERSIONS, ApiKey.DESCRIBE_DELEGATION_TOKEN)
    with pytest.raises(ValueError, match="does not serve DESCRIBE_DELEGATION_TOKEN"):
        cluster.inject("DescribeDelegationToken", Errors.SECURITY_DISABLED)


def test_the_clusters_own_requests_are_neither_recorded_nor_affected(cluster):
    with cluster.inject(None).drop_request().always() as fault:
        cluster.produce("a", "safe")
        assert fault.count == 0
    assert len(cluster.requests) == 0


def test_faults_survive_a_restart():
    with Cluster() as cluster:
        cluster.inject("ApiVersions").drop_request().once()
        cluster.restart()
        with connect(cluster) as channel, pytest.raises(NotConnectedError):
            channel.exchange(ApiVersionsRequest(), 0)


def test_a_broker_stops_while_requests_are_held_back():
    with Cluster() as cluster:
        threads = threading.active_count()
        cluster.pause()
        cluster.inject("Metadata").delay(60_000).once()
        with connect(cluster) as channel, connect(cluster) as other:
            channel.send(ApiVersionsRequest(), 0)
            cluster.requests.wait_for("ApiVersions")
            cluster.resume()
            other.send(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 5)
            cluster.requests.wait_for("Metadata")
            cluster.stop()
    assert threading.active_count() < threads


def test_an_invalid_error_is_an_error_of_the_test(cluster):
    with pytest.raises(TypeError, match=r"such as Errors\.NOT_LEADER_OR_FOLLOWER, not 'NOT_LEADER'"):
        cluster.inject("Produce", "NOT_LEADER")
