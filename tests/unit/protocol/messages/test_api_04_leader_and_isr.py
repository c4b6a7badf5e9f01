"""LeaderAndIsr on the wire: versions 0 (0.10.2's), 1, 2, 4 (the newest served), 5 and 7, drawn by hand."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
    LeaderAndIsrTopicState,
)
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from tests.support.annotated_bytes import annotated_bytes

TOPIC_ID = UUID("00112233-4455-6677-8899-aabbccddeeff")

STATE_V0 = """
    00000003            #   partition_index
    00000009            #   controller_epoch
    00000001            #   leader
    00000005            #   leader_epoch
    00000002            #   isr
    00000001 00000002
    0000000c            #   partition_epoch: the znode's version
    00000003            #   replicas
    00000001 00000002 00000003
"""
LIVE_LEADER = """
    00000001            # live_leaders
    00000001            #   broker_id
    0001 'h'            #   host_name
    00002384            #   port
"""
REQUEST_V0 = f"""
    00000007            # controller_id
    00000009            # controller_epoch
    00000001            # ungrouped_partition_states
    0002 'tp'           #   topic_name
    {STATE_V0}
    {LIVE_LEADER}
"""
REQUEST_V1 = f"""
    00000007            # controller_id
    00000009            # controller_epoch
    00000001            # ungrouped_partition_states
    0002 'tp'           #   topic_name
    {STATE_V0}
    01                  #   is_new
    {LIVE_LEADER}
"""
REQUEST_V2 = f"""
    00000007            # controller_id
    00000009            # controller_epoch
    0000000000000064    # broker_epoch
    00000001            # topic_states
    0002 'tp'           #   topic_name
    00000001            #   partition_states
    {STATE_V0}
    01                  #     is_new
    {LIVE_LEADER}
"""
COMPACT_STATE = """
    00000003            #     partition_index
    00000009            #     controller_epoch
    00000001            #     leader
    00000005            #     leader_epoch
    03                  #     isr
    00000001 00000002
    0000000c            #     partition_epoch
    04                  #     replicas
    00000001 00000002 00000003
    02                  #     adding_replicas
    00000003
    01                  #     removing_replicas
    01                  #     is_new
"""
COMPACT_LEADER = """
    02                  # live_leaders
    00000001            #   broker_id
    02 'h'              #   host_name
    00002384            #   port
    00                  #   no tagged fields
    00                  # no tagged fields
"""
REQUEST_V4 = f"""
    00000007            # controller_id
    00000009            # controller_epoch
    0000000000000064    # broker_epoch
    02                  # topic_states
    03 'tp'             #   topic_name
    02                  #   partition_states
    {COMPACT_STATE}
    00                  #     no tagged fields
    00                  #   no tagged fields
    {COMPACT_LEADER}
"""
REQUEST_V7 = f"""
    00000007            # controller_id
    01                  # is_kraft_controller
    00000009            # controller_epoch
    0000000000000064    # broker_epoch
    02                  # type: all partitions
    02                  # topic_states
    03 'tp'             #   topic_name
    00112233445566778899aabbccddeeff    # topic_id
    02                  #   partition_states
    {COMPACT_STATE}
    01                  #     leader_recovery_state
    00                  #     no tagged fields
    00                  #   no tagged fields
    {COMPACT_LEADER}
"""
RESPONSE_V0 = """
    000b                # error_code: STALE_CONTROLLER_EPOCH
    00000001            # partition_errors
    0002 'tp'           #   topic_name
    00000003            #   partition_index
    0038                #   error_code: KAFKA_STORAGE_ERROR
"""
RESPONSE_V4 = """
    000b                # error_code
    02                  # partition_errors
    03 'tp'             #   topic_name
    00000003            #   partition_index
    0038                #   error_code
    00                  #   no tagged fields
    00                  # no tagged fields
"""
RESPONSE_V5 = """
    000b                # error_code
    02                  # topics
    00112233445566778899aabbccddeeff    # topic_id
    02                  #   partition_errors
    00000003            #     partition_index
    0038                #     error_code
    00                  #     no tagged fields
    00                  #   no tagged fields
    00                  # no tagged fields
"""


def state(**values: object) -> LeaderAndIsrPartitionState:
    made = LeaderAndIsrPartitionState(
        partition_index=3,
        controller_epoch=9,
        leader=1,
        leader_epoch=5,
        isr=[1, 2],
        partition_epoch=12,
        replicas=[1, 2, 3],
    )
    for name, value in values.items():
        setattr(made, name, value)
    return made


def request(**values: object) -> LeaderAndIsrRequest:
    leaders = [LeaderAndIsrLiveLeader(broker_id=1, host_name="h", port=9092)]
    made = LeaderAndIsrRequest(controller_id=7, controller_epoch=9, live_leaders=leaders)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def ungrouped(is_new: bool = False) -> LeaderAndIsrRequest:
    return request(ungrouped_partition_states=[state(topic_name="tp", is_new=is_new)])


def grouped(*, topic_id: UUID = ZERO_UUID, broker_epoch: int = 100, **values: object) -> LeaderAndIsrRequest:
    topic = LeaderAndIsrTopicState(topic_name="tp", topic_id=topic_id, partition_states=[state(is_new=True, **values)])
    return request(topic_states=[topic], broker_epoch=broker_epoch)


def of_kraft() -> LeaderAndIsrRequest:
    made = grouped(topic_id=TOPIC_ID, adding_replicas=[3], leader_recovery_state=1)
    made.is_kraft_controller, made.type = True, 2
    return made


def response(topic_name: str = "tp") -> LeaderAndIsrResponse:
    error = LeaderAndIsrPartitionError(topic_name=topic_name, partition_index=3, error_code=56)
    return LeaderAndIsrResponse(error_code=11, partition_errors=[error])


def response_by_id() -> LeaderAndIsrResponse:
    errors = [LeaderAndIsrPartitionError(partition_index=3, error_code=56)]
    topics = [LeaderAndIsrTopicError(topic_id=TOPIC_ID, partition_errors=errors)]
    return LeaderAndIsrResponse(error_code=11, topics=topics)


DRAWN: list[tuple[Message, int, str]] = [
    (ungrouped(), 0, REQUEST_V0),
    (ungrouped(is_new=True), 1, REQUEST_V1),
    (grouped(), 2, REQUEST_V2),
    (grouped(adding_replicas=[3]), 4, REQUEST_V4),
    (of_kraft(), 7, REQUEST_V7),
    (response(), 0, RESPONSE_V0),
    (response(), 3, RESPONSE_V0),
    (response(), 4, RESPONSE_V4),
    (response_by_id(), 5, RESPONSE_V5),
    (response_by_id(), 7, RESPONSE_V5),
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


@pytest.mark.parametrize(("made", "version"), [(ungrouped(), 0), (grouped(), 2), (of_kraft(), 7)])
def test_states_of_either_layout_name_their_topic(made: LeaderAndIsrRequest, version: int) -> None:
    decoded = LeaderAndIsrRequest.decode(made.encode(version), version)
    (found,) = decoded.partition_states()
    assert (found.topic_name, found.partition_index, found.isr) == ("tp", 3, [1, 2])


def test_a_response_is_by_id_or_by_name() -> None:
    errors = [
        LeaderAndIsrPartitionError(topic_name=name, partition_index=index, error_code=index)
        for name, index in (("tp", 1), ("u", 2), ("tp", 3))
    ]
    named = LeaderAndIsrResponse(error_code=11, partition_errors=errors)
    by_id = LeaderAndIsrResponse.decode(named.by_topic_id({"tp": TOPIC_ID}).encode(5), 5)
    assert by_id.error_code == 11
    found = {topic.topic_id: [each.partition_index for each in topic.partition_errors] for topic in by_id.topics}
    assert found == {TOPIC_ID: [1, 3], ZERO_UUID: [2]}
    again = by_id.by_topic_name({TOPIC_ID: "tp"})
    assert [(each.topic_name, each.partition_index) for each in again.partition_errors] == [("tp", 1), ("tp", 3)]
    assert named.by_topic_name({}) == named


def test_only_ids_that_are_not_zero_count() -> None:
    assert grouped(topic_id=TOPIC_ID).topic_ids() == {"tp": TOPIC_ID}
    assert grouped().topic_ids() == ungrouped().topic_ids() == {}


def test_states_come_in_the_order_of_the_request() -> None:
    topics = [
        LeaderAndIsrTopicState(topic_name=name, partition_states=[state(partition_index=number) for number in (5, 0)])
        for name in ("b", "a")
    ]
    states = request(topic_states=topics).partition_states()
    assert [(found.topic_name, found.partition_index) for found in states] == [("b", 5), ("b", 0), ("a", 5), ("a", 0)]


def test_an_old_broker_does_not_hear_of_a_reassignment_nor_of_its_own_epoch() -> None:
    assert ungrouped(is_new=True).encode(0) == ungrouped().encode(0)
    assert grouped(adding_replicas=[3]).encode(2) == grouped().encode(2)
    assert LeaderAndIsrRequest.decode(annotated_bytes(REQUEST_V0), 0).broker_epoch == -1


def test_each_version_has_one_layout_of_partitions() -> None:
    with pytest.raises(UnsupportedVersionError, match="topic_states is set, and version 1 has no such field"):
        grouped().encode(1)
    with pytest.raises(UnsupportedVersionError, match="ungrouped_partition_states is set, and version 2"):
        ungrouped().encode(2)
    with pytest.raises(UnsupportedVersionError, match="partition_errors is set, and version 5"):
        response().encode(5)


def test_an_unclean_election_needs_version_6() -> None:
    with pytest.raises(UnsupportedVersionError, match="leader_recovery_state is set, and version 5"):
        grouped(leader_recovery_state=1).encode(5)


@pytest.mark.parametrize("field", ["isr", "replicas"])
def test_replicas_are_not_nullable(field: str) -> None:
    with pytest.raises(SchemaError, match=rf"LeaderAndIsrRequest v0: .*{field}"):
        request(ungrouped_partition_states=[state(**{field: None})]).encode(0)
    start = annotated_bytes("00000007 00000009 00000001 0002 'tp'") + bytes(16)
    empty_isr = b"" if field == "isr" else bytes(8)
    with pytest.raises(SchemaError, match=f"{field} is null"):
        LeaderAndIsrRequest.decode(start + empty_isr + b"\xff\xff\xff\xff" + bytes(8), 0)
