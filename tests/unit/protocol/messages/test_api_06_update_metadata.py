"""UpdateMetadata on the wire: versions 0, 1, 3 (0.10.2's), 4, 5, 6 (the newest served) and 8, drawn by hand."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    UpdateMetadataTopicState,
)
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from tests.support.annotated_bytes import annotated_bytes

TOPIC_ID = UUID("00112233-4455-6677-8899-aabbccddeeff")

STATE = """
    00000003            #   partition_index
    00000009            #   controller_epoch
    fffffffe            #   leader: the topic is being deleted
    00000005            #   leader_epoch
    00000001 00000002   #   isr
    0000000c            #   zk_version
    00000002            #   replicas
    00000001 00000002
"""
UNGROUPED = f"""
    00000007            # controller_id
    00000009            # controller_epoch
    00000001            # ungrouped_partition_states
    0002 'tp'           #   topic_name
    {STATE}
"""
REQUEST_V0 = f"""
    {UNGROUPED}
    00000001            # live_brokers
    00000001            #   id
    0001 'h'            #   v0_host
    00002384            #   v0_port
"""
REQUEST_V1 = f"""
    {UNGROUPED}
    00000001            # live_brokers
    00000001            #   id
    00000001            #   endpoints
    00002384            #     port
    0001 'h'            #     host
    0001                #     security_protocol: SSL
"""
REQUEST_V2 = f"{REQUEST_V1}\nffff  # rack: null"
BROKER_V3 = """
    00000001            # live_brokers
    00000001            #   id
    00000001            #   endpoints
    00002384            #     port
    0001 'h'            #     host
    0003 'EXT'          #     listener
    0001                #     security_protocol: SSL
    0002 'r1'           #   rack
"""
REQUEST_V3 = UNGROUPED + BROKER_V3
OFFLINE_REPLICAS = """
    00000001            #   offline_replicas
    00000002
"""
REQUEST_V4 = UNGROUPED + OFFLINE_REPLICAS + BROKER_V3
REQUEST_V5 = f"""
    00000007            # controller_id
    00000009            # controller_epoch
    0000000000000064    # broker_epoch
    00000001            # topic_states
    0002 'tp'           #   topic_name
    00000001            #   partition_states
    {STATE}
    {OFFLINE_REPLICAS}
    {BROKER_V3}
"""
COMPACT_STATE = """
    00000003            #     partition_index
    00000009            #     controller_epoch
    fffffffe            #     leader
    00000005            #     leader_epoch
    02 00000002         #     isr
    0000000c            #     zk_version
    03                  #     replicas
    00000001 00000002
    02 00000002         #     offline_replicas
    00                  #     no tagged fields
"""
COMPACT_BROKER = """
    02                  # live_brokers
    00000001            #   id
    02                  #   endpoints
    00002384            #     port
    02 'h'              #     host
    04 'EXT'            #     listener
    0001                #     security_protocol
    00                  #     no tagged fields
    03 'r1'             #   rack
    00                  #   no tagged fields
"""
REQUEST_V6 = f"""
    00000007            # controller_id
    00000009            # controller_epoch
    0000000000000064    # broker_epoch
    02                  # topic_states
    03 'tp'             #   topic_name
    02                  #   partition_states
    {COMPACT_STATE}
    00                  #   no tagged fields
    {COMPACT_BROKER}
    00                  # no tagged fields
"""
REQUEST_V8 = f"""
    00000007            # controller_id
    01                  # is_kraft_controller
    00000009            # controller_epoch
    0000000000000064    # broker_epoch
    02                  # topic_states
    03 'tp'             #   topic_name
    00112233445566778899aabbccddeeff    # topic_id
    02                  #   partition_states
    {COMPACT_STATE}
    00                  #   no tagged fields
    {COMPACT_BROKER}
    01                  # one tagged field
    00 01 02            #   tag 0, one byte: type, all partitions
"""


def state(**values: object) -> UpdateMetadataPartitionState:
    made = UpdateMetadataPartitionState(
        partition_index=3,
        controller_epoch=9,
        leader=-2,
        leader_epoch=5,
        isr=[2],
        zk_version=12,
        replicas=[1, 2],
    )
    for name, value in values.items():
        setattr(made, name, value)
    return made


def broker(version: int) -> UpdateMetadataBroker:
    """A broker with the fields that the version has."""
    if version == 0:
        return UpdateMetadataBroker(id=1, v0_host="h", v0_port=9092)
    listener = "EXT" if version >= 3 else ""
    endpoint = UpdateMetadataEndpoint(port=9092, host="h", listener=listener, security_protocol=1)
    made = UpdateMetadataBroker(id=1, endpoints=[endpoint])
    if version >= 2:
        made.rack = "r1" if version >= 3 else None
    return made


def request(version: int) -> UpdateMetadataRequest:
    """What the version can say of one partition and one broker."""
    made = UpdateMetadataRequest(controller_id=7, controller_epoch=9, live_brokers=[broker(version)])
    offline = [2] if version >= 4 else []
    if version < 5:
        made.ungrouped_partition_states = [state(topic_name="tp", offline_replicas=offline)]
        return made
    made.broker_epoch = 100
    topic_id = TOPIC_ID if version >= 7 else UUID(int=0)
    states = [state(offline_replicas=offline)]
    made.topic_states = [UpdateMetadataTopicState(topic_name="tp", topic_id=topic_id, partition_states=states)]
    if version >= 8:
        made.is_kraft_controller, made.type = True, 2
    return made


DRAWN: list[tuple[Message, int, str]] = [
    (request(0), 0, REQUEST_V0),
    (request(1), 1, REQUEST_V1),
    (request(2), 2, REQUEST_V2),
    (request(3), 3, REQUEST_V3),
    (request(4), 4, REQUEST_V4),
    (request(5), 5, REQUEST_V5),
    (request(6), 6, REQUEST_V6),
    (request(8), 8, REQUEST_V8),
    (UpdateMetadataResponse(error_code=11), 0, "000b"),
    (UpdateMetadataResponse(error_code=-1), 5, "ffff"),
    (UpdateMetadataResponse(error_code=11), 6, "000b 00"),
    (UpdateMetadataResponse(error_code=77), 8, "004d 00"),
]


@pytest.mark.parametrize(("message", "version", "drawn"), DRAWN)
def test_a_message_has_the_drawn_bytes(message: Message, version: int, drawn: str) -> None:
    assert message.encode(version).hex() == annotated_bytes(drawn).hex()


@pytest.mark.parametrize(("message", "version", "drawn"), DRAWN)
def test_the_drawn_bytes_are_read_to_their_end(message: Message, version: int, drawn: str) -> None:
    data = annotated_bytes(drawn)
    assert type(message).decode_from(data, 0, version) == (message, len(data))


@pytest.mark.parametrize(("message", "version", "drawn"), DRAWN)
def test_a_message_that_ends_too_early_is_refused(message: Message, version: int, drawn: str) -> None:
    data = annotated_bytes(drawn)
    for length in range(len(data)):
        with pytest.raises(SchemaError, match=f"{type(message).__name__} v{version}"):
            type(message).decode(data[:length], version)


@pytest.mark.parametrize("version", range(9))
def test_states_of_either_layout_belong_to_their_partition(version: int) -> None:
    decoded = UpdateMetadataRequest.decode(request(version).encode(version), version)
    ((partition, found),) = decoded.partition_states()
    assert partition == TopicPartition("tp", 3)
    assert (found.leader, found.isr, found.zk_version) == (-2, [2], 12)


def test_states_come_in_the_order_of_the_request() -> None:
    topics = [
        UpdateMetadataTopicState(topic_name=name, partition_states=[state(partition_index=n) for n in (4, 1)])
        for name in ("z", "a")
    ]
    partitions = [partition for partition, _ in UpdateMetadataRequest(topic_states=topics).partition_states()]
    assert partitions == [TopicPartition(name, number) for name in ("z", "a") for number in (4, 1)]


def test_a_broker_has_one_address_in_version_0_only() -> None:
    both = UpdateMetadataRequest(live_brokers=[broker(3)])
    both.live_brokers[0].v0_host, both.live_brokers[0].v0_port = "old", 1
    read = [UpdateMetadataRequest.decode(both.encode(version), version).live_brokers[0] for version in (0, 1, 2, 3)]
    assert [found.v0_host for found in read] == ["old", "", "", ""]
    assert [len(found.endpoints) for found in read] == [0, 1, 1, 1]
    assert [found.endpoints[0].listener for found in read[1:]] == ["", "", "EXT"]
    assert [found.rack for found in read[2:]] == ["r1", "r1"]


def test_each_version_has_one_layout_of_partitions() -> None:
    with pytest.raises(UnsupportedVersionError, match="topic_states is set, and version 4 has no such field"):
        request(5).encode(4)
    with pytest.raises(UnsupportedVersionError, match="ungrouped_partition_states is set, and version 5"):
        request(4).encode(5)


def test_only_version_8_names_a_controller_of_kraft() -> None:
    with pytest.raises(UnsupportedVersionError, match="is_kraft_controller is set, and version 7"):
        request(8).encode(7)
    with pytest.raises(UnsupportedVersionError, match="type is set, and version 7"):
        UpdateMetadataRequest(type=1).encode(7)


def test_the_hosts_of_a_listener_are_not_nullable() -> None:
    drawn = annotated_bytes(REQUEST_V3).replace(annotated_bytes("0001 'h'"), b"\xff\xff\0")
    with pytest.raises(SchemaError, match="host is null, or has the length -1"):
        UpdateMetadataRequest.decode(drawn, 3)


def test_more_brokers_than_bytes_are_refused() -> None:
    drawn = annotated_bytes("00000007 00000009 00000000 10000000") + bytes(64)
    with pytest.raises(SchemaError, match="live_brokers claims 268435456, with 64 bytes left in the frame"):
        UpdateMetadataRequest.decode(drawn, 1)
