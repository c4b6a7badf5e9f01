"""The responses of Kafka 0.10.2.2, compared with ours: the same requests in the same order, field by field.

The pairs were captured from the first of three real brokers. Ours is alone, so it responds for itself only; every
other difference is listed below, with its reason.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.framing import decode_request, decode_response, encode_request
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_lite.protocol.schema import Struct
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s

PAIRS: list[dict[str, Any]] = json.loads((Path(__file__).parent.parent / "data/client-golden-0.10.2.json").read_text())
BROKER = {
    "broker.id": "1",
    "broker.rack": "rack1",
    "num.partitions": "2",
    "log.message.format.version": "0.10.2",
    "inter.broker.protocol.version": "0.10.2",
    "offsets.topic.num.partitions": "5",
}
HOUR_MS = 3_600_000
WITHOUT_LEADER = ("golden1", 1)
"""The partition that is on brokers 2 and 3. Controllers tell of a partition when it has its first leader."""

NOT_ASKED = {
    "create topic sent to a broker which is not the controller": "our only broker is the controller",
    "not the coordinator": "our only broker coordinates all groups",
}
DIFFERENT = {
    # The error message is that of today's Kafka.
    "invalid name (v1 has an error message)": {("topics", 0): {
        "error_message": "Topic name is invalid: 'bad name!' contains one or more characters other than ASCII "
        "alphanumerics, '.', '_' and '-'",
    }},
    # Brokers 2 and 3, which have its second partition, do not exist here: it gets no leader in time.
    "manual assignment (partitions -1, replication -1)": {("topics", 0): {"error_code": 7}},
    # In the old layout with magic 2, which 0.10.2.2 accepted. Since 0.11, magic 2 is a different layout.
    "unknown magic 2 in the old layout, right CRC": {("responses", 0, "partition_responses", 0): {
        "error_code": 2, "base_offset": -1,
    }},
    # The previous one was rejected, so this one has its offset.
    "timestamp 31 years old (message.timestamp.difference.max.ms is unlimited by default)": {
        ("responses", 0, "partition_responses", 0): {"base_offset": 3},
    },
    # A rejected JoinGroup has generation -1 since 1.0; clients ignore it.
    "join with an unknown member id": {(): {"generation_id": -1}},
    "session timeout below the minimum": {(): {"generation_id": -1}},
}  # fmt: skip
"""Legitimate differences: where in the answer, and what ours says there."""

Plain = Any
"""A message as dicts, lists and values."""


def plain(value: object) -> Plain:
    if isinstance(value, Struct):
        return {field.name: plain(getattr(value, field.name)) for field in value.FIELDS}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return bytes(value) if isinstance(value, memoryview) else value


def served(pair: dict[str, Any]) -> bool:
    key, version = pair["api_key"], pair["version"]
    ours = SERVED_VERSIONS.get(ApiKey(key))
    return ours is not None and ours.min_version <= version <= ours.max_version and pair["name"] not in NOT_ASKED


ASKED = [pair for pair in PAIRS if served(pair)]


def frame_of(pair: dict[str, Any]) -> bytes:
    """The recorded request; but a 10 s timeout is shortened, and timestamps are shifted to the present.

    Version 0 of ListOffsets compares with the last-modified time of files, unlike version 1.
    """
    frame = bytes.fromhex(pair["request_hex"])
    header, request = decode_request(frame)
    if isinstance(request, CreateTopicsRequest) and pair["name"].startswith("manual assignment"):
        request.timeout_ms = 500
        return encode_request(request, header.api_version, header.correlation_id, header.client_id)
    if pair["api_key"] != ApiKey.LIST_OFFSETS or pair["version"] != 0:
        return frame
    partition = request.topics[0].partitions[0]  # type: ignore[attr-defined]
    if partition.timestamp >= 0:
        after_the_end = pair["name"] == "timestamp after the end"
        partition.timestamp = round(time.time() * 1000) + (HOUR_MS if after_the_end else -HOUR_MS)
    return encode_request(request, 0, header.correlation_id, header.client_id)


def exchange(sock: socket.socket, frame: bytes) -> bytes:
    sock.sendall(struct.pack(">i", len(frame)) + frame)
    stream = sock.makefile("rb")
    (size,) = struct.unpack(">i", stream.read(4))
    return stream.read(size)


@pytest.fixture(scope="module")
def answers() -> Iterator[list[bytes]]:
    """Our responses to all of ``ASKED``, in order, over one connection."""
    with Cluster(BROKER) as cluster:
        port = cluster.server.bound_port()
        with BlockingChannel("127.0.0.1", port) as channel:
            compacted = CreatableTopic(
                name="assigned",
                num_partitions=1,
                replication_factor=1,
                configs=[CreatableTopicConfig(name="cleanup.policy", value="compact")],
            )
            channel.exchange(CreateTopicsRequest(topics=[compacted], timeout_ms=30_000), 1)
        found = []
        member_ids: dict[bytes, bytes] = {}
        with socket.create_connection(("127.0.0.1", port), timeout=patient_s(60)) as sock:
            for pair in ASKED:
                if pair["api_key"] == ApiKey.FIND_COORDINATOR:
                    await_offsets_topic(port)
                answer = exchange(sock, replaced(frame_of(pair), member_ids))
                if pair["api_key"] == ApiKey.JOIN_GROUP:
                    note_member_id(pair, answer, member_ids)
                found.append(replaced(answer, {ours: kafkas for kafkas, ours in member_ids.items()}))
        yield found


def note_member_id(pair: dict[str, Any], answer: bytes, member_ids: dict[bytes, bytes]) -> None:
    """Member ids are random: map Kafka's to ours."""
    kafkas, ours = (
        decode(pair["api_key"], pair["version"], frame).member_id.encode()
        for frame in (bytes.fromhex(pair["response_hex"]), answer)
    )
    assert len(kafkas) == len(ours)
    if kafkas != ours:
        member_ids[kafkas] = ours


def replaced(frame: bytes, member_ids: dict[bytes, bytes]) -> bytes:
    for old, new in member_ids.items():
        frame = frame.replace(old, new)
    return frame


def await_offsets_topic(port: int) -> None:
    """Kafka's coordinators had existed long before these requests."""
    with BlockingChannel("127.0.0.1", port) as channel:

        def is_there() -> bool:
            answer = channel.exchange(MetadataRequest(topics=[MetadataRequestTopic(name="__consumer_offsets")]), 1)
            assert isinstance(answer, MetadataResponse)
            return answer.topics[0].error_code == 0 and all(p.leader_id == 1 for p in answer.topics[0].partitions)

        eventually(is_there, "no coordinator")


@pytest.mark.parametrize("number", range(len(ASKED)), ids=[f"{pair['api_key']}-{pair['name']}" for pair in ASKED])
def test_the_response_matches_kafka(answers: list[bytes], number: int) -> None:
    pair = ASKED[number]
    key, version = pair["api_key"], pair["version"]
    kafkas, ours = (decode(key, version, frame) for frame in (bytes.fromhex(pair["response_hex"]), answers[number]))
    if isinstance(ours, MetadataResponse):
        compare_metadata(pair, kafkas, ours)
    elif isinstance(ours, FindCoordinatorResponse):
        assert (ours.error_code, ours.node_id, ours.host) == (0, 1, "127.0.0.1")
    elif isinstance(ours, ApiVersionsResponse):
        compare_api_versions(kafkas, ours)
    elif pair["name"] == "delete topics":  # in no particular order
        assert sorted(plain(ours)["responses"], key=str) == sorted(plain(kafkas)["responses"], key=str)
    else:
        expected = plain(kafkas)
        if pair["name"] == "list groups":  # of another consumer
            expected["groups"] = [group for group in expected["groups"] if group["group_id"] != "kpyg"]
        for path, fields in DIFFERENT.get(pair["name"], {}).items():
            place = expected
            for step in path:
                place = place[step]
            place.update(fields)
        assert plain(ours) == expected


def decode(key: int, version: int, frame: bytes) -> Any:
    return decode_response(key, version, frame)[1]


def compare_metadata(pair: dict[str, Any], kafkas: MetadataResponse, ours: MetadataResponse) -> None:
    """Brokers and leaders are ours, and Kafka's cluster had topics of its own."""
    (broker,) = ours.brokers
    (same,) = (each for each in kafkas.brokers if each.node_id == 1)
    assert (broker.node_id, broker.host, broker.rack) == (same.node_id, same.host, same.rack)
    assert (ours.cluster_id is None) == (kafkas.cluster_id is None)
    assert ours.controller_id == (1 if pair["version"] >= 1 else -1)
    theirs = {topic.name: topic for topic in kafkas.topics}
    for topic in ours.topics:
        expected = theirs[topic.name]
        assert (topic.error_code, topic.is_internal) == (expected.error_code, expected.is_internal)
        indexes = [p.partition_index for p in expected.partitions if (topic.name, p.partition_index) != WITHOUT_LEADER]
        if topic.name != "assigned":  # our broker has created its own
            assert sorted(p.partition_index for p in topic.partitions) == sorted(indexes)
            assert {p.error_code for p in topic.partitions} <= {0, 9}  # 9 in version 0: the other replica is dead
    if pair["request"]["topics"]:
        assert {topic.name for topic in ours.topics} == set(theirs)
    elif pair["name"] == "v1 empty array = no topics":
        assert ours.topics == kafkas.topics == []
    else:
        assert {topic.name for topic in ours.topics} == {"assigned", "golden0", "golden1"}


def compare_api_versions(kafkas: ApiVersionsResponse, ours: ApiVersionsResponse) -> None:
    """Ours serves later versions, too, also of ApiVersions."""
    assert ours.error_code == 0
    ranges = {each.api_key: (each.min_version, each.max_version) for each in ours.api_keys}
    for theirs in kafkas.api_keys:
        if theirs.api_key in ranges:
            low, high = ranges[theirs.api_key]
            assert low <= theirs.min_version
            assert high >= theirs.max_version


def test_correlation_ids_are_returned(answers: list[bytes]) -> None:
    for pair, answer in zip(ASKED, answers, strict=True):
        assert answer[:4].hex() == pair["response_hex"][:8]


def test_the_requests_that_are_not_compared_are_listed() -> None:
    """A request that is served in future will then be compared."""
    not_served = {ApiKey(pair["api_key"]) for pair in PAIRS if ApiKey(pair["api_key"]) not in SERVED_VERSIONS}
    assert not_served == set()
