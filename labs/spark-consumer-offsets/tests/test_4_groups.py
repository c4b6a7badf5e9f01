"""Task 4: generations, members, assignments."""

import pytest

from pipeline.tables.group_history import decode_assignment, decode_group

MEMBERS = {"m1": [("flights", [0, 2]), ("weather", [1])], "m2": [("flights", [1])]}


def member(name, topics):
    return {
        "member_id": name,
        "client_id": f"client of {name}",
        "client_host": "/127.0.0.1",
        "session_timeout_ms": 10_000,
        "assigned": [{"topic": topic, "partition": number} for topic, numbers in topics for number in numbers],
    }


@pytest.mark.parametrize("version", [0, 1, 2, 3])
@pytest.mark.points(4, task=4)
def test_a_generation(group_value, version):
    """A generation, value version"""
    try:
        got = decode_group(group_value(12, MEMBERS, version, leader="m2"))
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a wrong place leads to
        newer = {1: "a rebalance timeout", 2: "a timestamp of the state", 3: "an instance id"}
        hint = f" (version {version} has {newer[version]}, which the one before has not)" if version else ""
        pytest.fail(
            f"value version {version}: {type(error).__name__}: {error}; a field was read from the wrong place{hint}"
        )
    assert got is not None, f"version {version} is known: it is in the table at the top"
    head = {name: got[name] for name in ("protocol_type", "generation", "protocol", "leader")}
    want = {"protocol_type": "consumer", "generation": 12, "protocol": "range", "leader": "m2"}
    assert head == want, f"value version {version}: the generation is {want}; you read {head}"
    for found, wanted in zip(got["members"], (member(*each) for each in MEMBERS.items()), strict=False):
        assert found == wanted, f"value version {version}: the member is {wanted}; you read {found}"
    assert len(got["members"]) == 2, f"there are two members, you read {len(got['members'])}"


@pytest.mark.points(3, task=4)
def test_an_empty_group(group_value):
    """A group that all members have left"""
    got = decode_group(group_value(13, {}))
    want = {"protocol_type": "consumer", "generation": 13, "protocol": None, "leader": None, "members": []}
    assert got == want, f"generation 13 is {want}; you read {got}"


@pytest.mark.points(3, task=4)
def test_a_tombstone_and_the_future(group_value):
    """Null, and value version 4"""
    assert decode_group(None) is None, "a group that was deleted has the value null: None"
    got = decode_group(group_value(13, MEMBERS, 4))
    assert got is None, f"version 4 has another layout, compact strings: None, not {got}"


@pytest.mark.points(3, task=4)
def test_no_assignment():
    """A member without partitions"""
    try:
        got = [decode_assignment(b""), decode_assignment(b"\x00\x00\x00\x00\x00\x00")]
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001 - none is right
        pytest.fail(
            f"a member may have no assignment, not even a version: no partitions, and no {type(error).__name__}"
        )
    assert got == [[], []], f"no bytes and no topics are both no partitions; you have {got}"
