"""Task 2: the header says how to read the rest."""

import struct

import pytest

from kafka_lite.protocol.framing import decode_request_head, decode_request_header
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError


def with_header(request, version, header_version):
    header = RequestHeader(api_key=request.API_KEY, api_version=version, correlation_id=7, client_id="shop")
    return memoryview(header.encode(header_version) + request.encode(version))


@pytest.mark.points(6, task=2)
def test_three_headers(frame):
    """Headers of versions 0, 1 and 2 that real clients sent"""
    for name, wanted, length in (
        ("metadata 0", (3, 0, 2, "golden"), 16),
        ("controlled shutdown 0", (7, 0, 2, None), 8),
        ("api versions 3", (18, 3, 1, "rdk-admin"), 20),
        ("metadata 12", (3, 12, 2, "rdk-admin"), 20),
    ):
        header, position = decode_request_header(frame(name))
        got = (header.api_key, header.api_version, header.correlation_id, header.client_id)
        assert got == wanted, (
            f"the header of {name} is {wanted}, not {got}: which of the three it has follows from the API and its "
            "version (spec.request_header_version)"
        )
        assert position == length, (
            f"the body of {name} begins at {length}, not at {position}: the API and its version say which header it "
            "has (spec.request_header_version)"
        )


@pytest.mark.points(5, task=2)
def test_headers_of_others(frame, refused):
    """A version and a key that do not exist; frames that are too short"""
    newer = frame("metadata 12").tobytes()
    newer = newer[:2] + b"\x00\x63" + newer[4:]
    try:
        header, _ = decode_request_header(memoryview(newer))
    except UnsupportedVersionError as error:
        pytest.fail(f"version 99 of Metadata: its header can be read, and says whose request it is; yours: {error}")
    assert (header.api_version, header.client_id) == (99, "rdk-admin"), "version 99 of Metadata, of rdk-admin"
    error = refused(lambda: decode_request_header(memoryview(b"\x03\xe7" + newer[2:])))
    assert "999" in error, f"there is no API 999, so nobody knows its header: UnsupportedVersionError; yours: {error!r}"
    for length in (0, 1, 3):
        try:
            error = refused(lambda length=length: decode_request_header(memoryview(newer[:length])))
        except (struct.error, IndexError, ValueError) as other:
            pytest.fail(f"a frame of {length} bytes is no request: SchemaError, not {type(other).__name__} ({other})")
        assert error, f"a frame of {length} bytes has no room for a key and a version: raise SchemaError"


@pytest.mark.points(6, task=2)
def test_the_numbers_at_the_start(frame):
    """The controller's id and epoch, before any partition is decoded"""
    head = decode_request_head(frame("update metadata 3"))
    got = (type(head).__name__, head.controller_id, head.controller_epoch)
    assert got == ("UpdateMetadataRequest", 1, 2), (
        f"controller 1 of epoch 2 sent it; yours: {got}. Version 3 has no broker_epoch: skip it (is_plain_in)"
    )
    assert head.ungrouped_partition_states == [], "the numbers end before the partitions: those are not decoded"
    for version, header_version in ((0, 1), (1, 1), (3, 2), (4, 2)):
        request = StopReplicaRequest(controller_id=5, controller_epoch=9)
        if version >= 1:
            request.broker_epoch = 77
        try:
            head = decode_request_head(with_header(request, version, header_version))
        except SchemaError as error:
            pytest.fail(f"StopReplica v{version}: {error}. Skip a field that the version does not have (is_plain_in)")
        got = (head.controller_id, head.controller_epoch, head.broker_epoch)
        wanted = (5, 9, 77 if version >= 1 else -1)
        assert got == wanted, (
            f"StopReplica v{version}: controller, its epoch, the broker's epoch are {wanted}; yours: {got}. "
            "Skip a field that the version does not have (is_plain_in)"
        )


@pytest.mark.points(3, task=2)
def test_where_the_numbers_end(refused):
    """A number behind an array, a frame that ends in the middle, a version without a codec"""
    request = CreateTopicsRequest(topics=[CreatableTopic(name="t", num_partitions=1)], timeout_ms=1)
    head = decode_request_head(with_header(request, 1, 1))
    assert head.timeout_ms == 60000, (
        f"timeout_ms stands behind an array, whose end nobody knows yet: leave its default; yours: {head.timeout_ms}"
    )
    stop = with_header(StopReplicaRequest(controller_id=5, controller_epoch=9), 0, 1)
    header_size = 14
    whole = decode_request_head(stop[: header_size + 9])
    assert whole.controller_epoch == 9, "the frame may end right after the last number: the head needs no more"
    error = refused(lambda: decode_request_head(stop[: header_size + 7]))
    assert "controller_epoch" in error, (
        f"the frame ends within controller_epoch: a SchemaError names it; yours: {error!r}"
    )
    newer = memoryview(stop[:2].tobytes() + b"\x00\x63" + bytes(30))
    error = refused(lambda: decode_request_head(newer))
    assert "99" in error, (
        f"version 99 of StopReplica: nobody knows its fields (request.check_version); yours: {error!r}"
    )
