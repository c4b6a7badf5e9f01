"""What was written to a ZooKeeper, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_lite.mirror.helix.model.built_in_state_models import MASTER_SLAVE
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.testing.simulation.helix.written_course import BOUND_BROKEN, NO_TRANSITION, judge, judge_log
from kafka_lite.zookeeper.embedded.protocol import OpCode
from kafka_lite.zookeeper.embedded.txn_log import TxnLog
from kafka_lite.zookeeper.embedded.txns import (
    CloseSessionTxn,
    CreateTxn,
    DeleteTxn,
    MultiTxn,
    SetDataTxn,
    Txn,
    TxnHeader,
)

PATHS = PropertyPaths("C")
ADMIN, W1, W2 = 1, 2, 3
Write = tuple[int, Txn]


def created(path: str, record: ZNRecord, *, by: int = ADMIN, ephemeral: bool = False) -> Write:
    return by, CreateTxn(path, record.to_bytes(), (), ephemeral, 1)


def live(name: str, by: int, session: str = "s1") -> Write:
    return created(PATHS.live_instance(name), LiveInstance.of(name, session, "p").record, by=by, ephemeral=True)


def state(name: str, state: str, session: str = "s1", partition: str = "0") -> Write:
    record = CurrentState.empty("t", session, "MasterSlave").with_state(partition, state).record
    return ADMIN, SetDataTxn(PATHS.current_state(name, session, "t"), record.to_bytes(), 1)


PLAN = IdealState.automatic(RebalanceMode.SEMI_AUTO, "t", "MasterSlave", {"0": ["w1", "w2"]}, replicas=2)
CLUSTER = (
    created(PATHS.state_model("MasterSlave"), MASTER_SLAVE.to_record()),
    created(PATHS.ideal_state("t"), PLAN.record),
    live("w1", W1),
    live("w2", W2),
    state("w1", "SLAVE"),
    state("w2", "SLAVE"),
    state("w1", "MASTER"),
)


def header(zxid: int, txn: Txn, client: int) -> TxnHeader:
    ops = {
        CreateTxn: OpCode.CREATE, SetDataTxn: OpCode.SET_DATA, DeleteTxn: OpCode.DELETE,
        CloseSessionTxn: OpCode.CLOSE_SESSION, MultiTxn: OpCode.MULTI,
    }  # fmt: skip
    return TxnHeader(client, 0, zxid, 0, ops[type(txn)])


def rules(writes: Sequence[Write]) -> list[str]:
    course = [(header(zxid, txn, client), txn) for zxid, (client, txn) in enumerate(writes, 1)]
    return [violation.rule for violation in judge(course, PATHS)]


def test_a_course_within_the_bounds() -> None:
    assert rules([*CLUSTER, state("w1", "SLAVE"), state("w2", "MASTER")]) == []


def test_a_second_master_is_said_once() -> None:
    assert rules([*CLUSTER, state("w2", "MASTER"), created("/else", ZNRecord("x"))]) == [BOUND_BROKEN]


def test_parts_of_one_transaction_happen_at_once() -> None:
    both = MultiTxn([(OpCode.SET_DATA, state(name, to)[1]) for name, to in (("w2", "MASTER"), ("w1", "SLAVE"))])
    assert rules([*CLUSTER, (ADMIN, both)]) == []


@pytest.mark.parametrize(
    "end", [(W1, CloseSessionTxn([])), (ADMIN, DeleteTxn(PATHS.live_instance("w1")))], ids=["session", "znode"]
)
def test_an_instance_that_does_not_live_is_no_master(end: Write) -> None:
    assert rules([*CLUSTER, end, state("w2", "MASTER")]) == []
    returned = [live("w1", W1, "s2"), state("w1", "SLAVE", "s2")]
    assert rules([*CLUSTER, end, state("w2", "MASTER"), *returned]) == []
    assert rules([*CLUSTER, end, state("w2", "MASTER"), *returned, state("w1", "MASTER", "s2")]) == [BOUND_BROKEN]


def test_a_session_that_ends_late_does_not_take_the_next_ones_znode() -> None:
    again = [(ADMIN, DeleteTxn(PATHS.live_instance("w1"))), live("w1", 4), (W1, CloseSessionTxn([]))]
    assert rules([*CLUSTER, *again, state("w2", "MASTER")]) == [BOUND_BROKEN]


def test_a_current_state_that_is_deleted_does_not_count() -> None:
    gone = ADMIN, DeleteTxn(PATHS.current_state("w1", "s1", "t"))
    assert rules([*CLUSTER, gone, state("w2", "MASTER")]) == []


def test_the_number_of_replicas_bounds_slaves_until_the_resource_is_dropped() -> None:
    third = [live("w3", 4), state("w3", "SLAVE"), state("w1", "SLAVE")]
    assert rules([*CLUSTER, *third]) == [BOUND_BROKEN]
    assert rules([*CLUSTER, (ADMIN, DeleteTxn(PATHS.ideal_state("t"))), *third]) == []


def test_a_replica_goes_along_the_state_model() -> None:
    assert rules([*CLUSTER[:4], state("w1", "MASTER")]) == [NO_TRANSITION]
    assert rules([*CLUSTER, state("w1", "OFFLINE")]) == [NO_TRANSITION]
    assert rules([*CLUSTER, state("w1", "ERROR"), state("w1", "OFFLINE")]) == []


def test_a_log_is_read_from_its_folder(tmp_path) -> None:
    folder = tmp_path / "version-2"
    folder.mkdir()
    log = TxnLog(folder, force_sync=False)
    for zxid, (client, txn) in enumerate([*CLUSTER, state("w2", "MASTER")], 1):
        log.append(header(zxid, txn, client), txn)
    log.roll()
    assert [violation.rule for violation in judge_log(tmp_path, "C")] == [BOUND_BROKEN]
