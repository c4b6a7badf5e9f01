"""Reading what may be missing, and writes whose effect is there already."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.helix.helix_errors import UnreadableRecordError
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.writes import Create, Delete, Put
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.helix_zookeeper import PATHS, FakeSession, SharedTree

PATH = PATHS.ideal_state("t")


@pytest.fixture
def accessor() -> ZKHelixDataAccessor:
    session: object = FakeSession(SharedTree())
    return ZKHelixDataAccessor(session, PATHS)  # type: ignore[arg-type]


def test_what_is_missing_or_has_no_value_is_none(accessor: ZKHelixDataAccessor) -> None:
    assert accessor.get(PATH) is None
    assert accessor.children(PATHS.ideal_states) == []
    accessor.zk.ensure_path(PATHS.ideal_states)
    assert accessor.get(PATHS.ideal_states) is None


def test_a_value_that_is_no_record_raises(accessor: ZKHelixDataAccessor) -> None:
    accessor.zk.create_recursive(PATH, b"{")
    with pytest.raises(UnreadableRecordError):
        accessor.get(PATH)


def test_writes_are_made_in_their_order_and_repeated_without_error(accessor: ZKHelixDataAccessor) -> None:
    first, second = ZNRecord("t", {"n": "1"}), ZNRecord("t", {"n": "2"})
    accessor.apply([Create(PATH, first), Create(PATH, second)])
    assert accessor.get(PATH) == first, "a create changes nothing that is there"
    accessor.apply([Put(PATH, second)])
    assert accessor.get(PATH) == second
    accessor.apply([Create(f"{PATH}/below", first), Delete(PATH), Delete(PATH)])
    assert accessor.children(PATHS.ideal_states) == []
    accessor.apply([Put(PATH, first)])
    assert accessor.get(PATH) == first


def test_an_ephemeral_znode_belongs_to_one_session(accessor: ZKHelixDataAccessor) -> None:
    accessor.zk.ensure_path(PATHS.root + "/CONTROLLER")
    record = ZNRecord("c1")
    assert accessor.create_ephemeral(PATHS.leader, record)
    assert accessor.create_ephemeral(PATHS.leader, record), "its own, after a response was lost"
    other: object = FakeSession(accessor.zk.tree)  # type: ignore[attr-defined]
    assert not ZKHelixDataAccessor(other, PATHS).create_ephemeral(PATHS.leader, record)  # type: ignore[arg-type]


def test_an_own_znode_with_the_record_of_an_earlier_session_gets_the_new_one(accessor: ZKHelixDataAccessor) -> None:
    accessor.zk.ensure_path(PATHS.root + "/CONTROLLER")
    accessor.create_ephemeral(PATHS.leader, ZNRecord("c1", {"SESSION_ID": "ended during the call"}))
    record = ZNRecord("c1", {"SESSION_ID": accessor.session})
    assert accessor.create_ephemeral(PATHS.leader, record)
    assert accessor.get(PATHS.leader) == record


def test_the_session_is_in_hex(accessor: ZKHelixDataAccessor) -> None:
    accessor.zk.session_id = 0x1A21F5A7D790002  # type: ignore[misc]
    assert accessor.session == "1a21f5a7d790002"


def test_a_child_that_cannot_be_read_is_left_out(
    accessor: ZKHelixDataAccessor, caplog: pytest.LogCaptureFixture
) -> None:
    accessor.apply([Put(PATH, ZNRecord("t"))])
    accessor.zk.create_recursive(PATHS.ideal_state("bad"), b"{")
    accessor.zk.create_recursive(PATHS.ideal_state("empty"))
    assert accessor.child_records(PATHS.ideal_states) == {"t": ZNRecord("t")}
    assert f"{PATHS.ideal_state('bad')} is ignored" in caplog.text
