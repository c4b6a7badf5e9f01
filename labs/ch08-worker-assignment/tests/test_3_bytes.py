"""Task 3: the bytes of an assignment."""

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import (
    CONFIG_MISMATCH,
    Assignment,
    deserialize_assignment,
    serialize_assignment,
)
from kafka_lite.protocol.schema_error import SchemaError

SINK = Assignment(0, "m", "u", 7, ("sink",), (ConnectorTaskId("sink", 0), ConnectorTaskId("sink", 1)))
SINK_BYTES = bytes.fromhex(
    "0000 0000 0001 6d 0001 75 0000000000000007 00000001 0004 73696e6b 00000003 ffffffff 00000000 00000001"
)


def read(data):
    try:
        return deserialize_assignment(data)
    except SchemaError as error:
        pytest.fail(f"these bytes can be read: {error}")


@pytest.mark.points(10, task=3)
def test_a_connector_and_its_tasks():
    """Bytes as Kafka writes them"""
    found = bytes(serialize_assignment(SINK))
    assert found == SINK_BYTES, f"-1 for the connector, then its tasks: {SINK_BYTES.hex(' ')}; yours: {found.hex(' ')}"
    found = read(SINK_BYTES)
    assert found.tasks == SINK.tasks, f"-1 is no task: tasks 0 and 1; yours: {found.tasks}"
    assert found == SINK, f"{SINK}; yours: {found}"
    two = Assignment(0, "m", "u", 7, ("sink", "source"), (ConnectorTaskId("source", 0),))
    found = read(serialize_assignment(two))
    assert found == two, f"the worker runs two connectors, and each has its entry with -1: {two}; yours: {found}"


@pytest.mark.points(10, task=3)
def test_a_task_without_its_connector():
    """It runs elsewhere"""
    alone = Assignment(0, "m", "u", 7, ("a",), (ConnectorTaskId("b", 3),))
    found = bytes(serialize_assignment(alone))
    assert found.endswith(bytes.fromhex("0001 61 00000001 ffffffff 0001 62 00000001 00000003")), (
        f"task b-3 is assigned without its connector: an entry of its own; yours: {found.hex(' ')}"
    )
    connectors = read(found).connectors
    assert connectors == ("a",), (
        f"an entry is the connector's only with -1 in it: a runs here, not b; yours: {connectors}"
    )
    assert read(found) == alone, f"{alone}; yours: {read(found)}"


@pytest.mark.points(10, task=3)
def test_errors_and_versions():
    """A mismatch, a later version, a negative one"""
    failed = Assignment(CONFIG_MISMATCH, "m", "u", 9)
    found = read(serialize_assignment(failed))
    assert found.error == CONFIG_MISMATCH, f"the error of the assignment, 1; yours: {found.error}"
    assert found == failed, f"{failed}; yours: {found}"
    later = b"\x00\x02" + SINK_BYTES[2:] + b"more"
    assert read(later) == SINK, "a later version begins with the fields of version 0"
    try:
        found = deserialize_assignment(b"\xff\xff" + SINK_BYTES[2:])
    except SchemaError:
        return
    pytest.fail(f"a negative version cannot be read: SchemaError; yours: {found}")
