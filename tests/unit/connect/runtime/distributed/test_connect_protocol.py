from itertools import chain

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import (
    CONFIG_MISMATCH,
    Assignment,
    WorkerState,
    deserialize_assignment,
    deserialize_metadata,
    serialize_assignment,
    serialize_metadata,
)
from kafka_lite.protocol.schema_error import SchemaError
from tests.support.connect_samples import two_workers

MEMBERS = list(chain.from_iterable(two_workers()["groups"]))
URL = "http://127.0.0.1:28083/"


def test_metadata_of_real_workers() -> None:
    assert {state.url for state in map(_metadata_of, MEMBERS)} == {URL, "http://127.0.0.1:28084/"}
    assert {state.offset for state in map(_metadata_of, MEMBERS)} == {-1, 7, 14, 25, 27, 28, 32}
    for member in MEMBERS:
        assert serialize_metadata(_metadata_of(member)).hex() == member["metadata_hex"]


def _metadata_of(member: dict[str, str]) -> WorkerState:
    return deserialize_metadata(bytes.fromhex(member["metadata_hex"]))


def test_assignments_of_real_workers() -> None:
    for member in MEMBERS:
        data = bytes.fromhex(member["assignment_hex"])
        assignment = deserialize_assignment(data)
        assert (assignment.error, assignment.leader_url) == (0, URL)
        again = serialize_assignment(assignment)
        assert deserialize_assignment(again) == assignment
        assert len(again) == len(data)  # the entries of a Java HashSet come in any order


def test_the_connector_itself_is_task_minus_one() -> None:
    two_tasks = tuple(ConnectorTaskId("s", number) for number in range(2))
    data = serialize_assignment(Assignment(0, "m", URL, 7, ("s",), two_tasks))
    assert data.hex() == (
        "0000" "0000" "0001" + b"m".hex() + "0017" + URL.encode().hex() + "0000000000000007"
        "00000001" "0001" + b"s".hex() + "00000003" "ffffffff" "00000000" "00000001"
    )  # fmt: skip


def test_a_failed_assignment() -> None:
    assignment = Assignment(CONFIG_MISMATCH, "m", URL, 7)
    assert deserialize_assignment(serialize_assignment(assignment)) == assignment
    assert assignment.failed


def test_a_later_version_is_read_as_version_0() -> None:
    data = bytes.fromhex("0002") + serialize_metadata(WorkerState(URL, 3))[2:] + bytes.fromhex("ffffffff")
    assert deserialize_metadata(data) == WorkerState(URL, 3)


@pytest.mark.parametrize("data", [b"", b"\x00", bytes.fromhex("ffff"), bytes.fromhex("0000001768")])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SchemaError):
        deserialize_metadata(data)
    with pytest.raises(SchemaError):
        deserialize_assignment(data)
