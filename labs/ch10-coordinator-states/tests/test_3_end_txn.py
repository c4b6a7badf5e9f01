"""Task 3: EndTxn in each state."""

import pytest

from kafka_learn.labs.coordinators import A0, A1
from kafka_learn.labs.raising import must_raise
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.coordinator.transaction.transaction_metadata import IllegalTransitionError
from kafka_lite.coordinator.transaction.transaction_state import TransactionState

S = TransactionState
PRODUCER = (7, 3)
OK, BUSY, INVALID = "NONE", "CONCURRENT_TRANSACTIONS", "INVALID_TXN_STATE"
# The state: what commit and abort get.
RESPONSES = {
    S.EMPTY: (INVALID, INVALID),
    S.ONGOING: (OK, OK),
    S.PREPARE_COMMIT: (BUSY, INVALID),
    S.PREPARE_ABORT: (INVALID, BUSY),
    S.COMPLETE_COMMIT: (OK, INVALID),
    S.COMPLETE_ABORT: (INVALID, OK),
}
WHY = {
    S.EMPTY: "there is no transaction to end",
    S.ONGOING: "the transaction is open: it can be ended either way",
    S.PREPARE_COMMIT: "it is decided to commit: a repeated commit waits for the markers, an abort comes too late",
    S.PREPARE_ABORT: "it is decided to abort: a repeated abort waits for the markers, a commit comes too late",
    S.COMPLETE_COMMIT: "the response to the commit may have been lost: a repeated commit succeeds, an abort does not",
    S.COMPLETE_ABORT: "the response to the abort may have been lost: a repeated abort succeeds, a commit does not",
}


@pytest.mark.points(7, task=3)
def test_commit_and_abort_in_each_state(coordinator):
    """Six states, commit and abort"""
    metadata = coordinator.put(S.EMPTY)
    template = vars(metadata.current)
    for state, responses in RESPONSES.items():
        for commit, expected in zip((True, False), responses, strict=True):
            partitions = frozenset({A0}) if state in (S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT) else frozenset()
            metadata.current = type(metadata.current)(**{**template, "state": state, "topic_partitions": partitions})
            found = coordinator.end(PRODUCER, commit=commit)
            what = "commit" if commit else "abort"
            assert found == expected, f"{what} in {state.title}: {WHY[state]}; {expected}, not {found}"
            ended = {True: S.COMPLETE_COMMIT, False: S.COMPLETE_ABORT}[commit] if state is S.ONGOING else state
            assert metadata.state is ended, f"{what} in {state.title} leads to {ended.title}, not {coordinator.state}"


@pytest.mark.points(6, task=3)
def test_strangers_and_zombies(coordinator):
    """Another producer id, an older epoch, a newer one"""
    coordinator.put(S.ONGOING, topic_partitions=frozenset({A0}))
    cases = {
        (8, 3): "INVALID_PRODUCER_ID_MAPPING",
        (8, 2): "INVALID_PRODUCER_ID_MAPPING",
        (7, 2): "PRODUCER_FENCED",
        (7, 4): "PRODUCER_FENCED",
    }
    for producer, expected in cases.items():
        found = coordinator.end(producer, commit=True)
        why = "no epoch above 3 was given to any client" if producer == (7, 4) else "its producer is 7 with epoch 3"
        assert found == expected, (
            f"EndTxn of producer {producer[0]} with epoch {producer[1]}: {why}; {expected}, not {found}"
        )
    assert coordinator.state == "Ongoing", f"none of them may end the transaction; it is {coordinator.state}"
    coordinator.is_holding_markers = True
    coordinator.end(PRODUCER, commit=True)
    found = coordinator.end((7, 2), commit=True)
    assert found == "PRODUCER_FENCED", (
        f"a zombie, while markers are written: it must learn that it is fenced, not retry; PRODUCER_FENCED, not {found}"
    )


@pytest.mark.points(7, task=3)
def test_while_a_transition_is_written(coordinator):
    """AddPartitionsToTxn has no response yet, or the coordinator is about to abort"""
    coordinator.put(S.ONGOING, topic_partitions=frozenset({A0}))
    coordinator.state_log.held = []
    assert coordinator.add(PRODUCER, A1) == "no response", "the append of the new partition waits"
    try:
        found = coordinator.end(PRODUCER, commit=True)
    except IllegalTransitionError as second:
        found = f"an IllegalTransitionError ({second})"
    assert found == BUSY, (
        f"a-1 is on its way into the log, and a commit now would not send it a marker: {BUSY}, not {found}"
    )
    coordinator.state_log.release()
    metadata = coordinator.metadata
    fence = metadata.prepare_fence_producer_epoch(0)
    found = coordinator.end(PRODUCER, commit=True)
    assert found == BUSY, f"the coordinator is about to abort the transaction: {BUSY}, not {found}"
    errors = []
    producer = type(coordinator.init().producer)(fence.producer_id, fence.producer_epoch)
    coordinator.coordinator._end("transfers", producer, S.PREPARE_ABORT, False, errors.append)
    assert errors == [Errors.NONE], (
        "the coordinator's own abort must not wait for the fence, which was prepared for it: NONE, "
        f"not {' '.join(error.name for error in errors)}"
    )
    assert coordinator.state == "CompleteAbort", f"the transaction is aborted, not {coordinator.state}"
    assert [(str(each.partition), each.producer_epoch, each.commit) for each in coordinator.markers] == [
        ("a-0", 4, False),
        ("a-1", 4, False),
    ], f"both markers abort, and have the raised epoch 4; yours: {coordinator.markers}"


@pytest.mark.points(5, task=3)
def test_what_is_prepared(coordinator):
    """The transition, and whether the epoch was raised for it"""

    def prepare(epoch, target, from_client):
        return coordinator.coordinator._prepare_end(metadata, ProducerIdAndEpoch(7, epoch), target, from_client)

    metadata = coordinator.put(S.ONGOING, topic_partitions=frozenset({A0}), last_producer_epoch=2)
    coordinator.time.sleep(10)
    transit, is_raised = prepare(3, S.PREPARE_COMMIT, True)
    assert is_raised is False, "a client's commit does not raise the epoch: False"
    assert (transit.producer_epoch, transit.last_producer_epoch) == (3, 2), (
        "a client's commit changes no epoch, nor the last one, which its retry may name: 3 and 2, not "
        f"{transit.producer_epoch} and {transit.last_producer_epoch}"
    )
    now_ms = coordinator.time.milliseconds()
    assert transit.last_update_timestamp_ms == now_ms, (
        f"it is prepared at {now_ms}, not {transit.last_update_timestamp_ms}"
    )
    why = "the client's commit is being written, and the coordinator's abort waits only for no fence of its own"
    raised = must_raise(ApiError, why, prepare, 3, S.PREPARE_ABORT, False)
    assert raised.error is Errors.CONCURRENT_TRANSACTIONS, f"{why}: CONCURRENT_TRANSACTIONS, not {raised.error.name}"
    metadata.cancel()
    raised = must_raise(ApiError, "the coordinator's own abort has an older epoch", prepare, 2, S.PREPARE_ABORT, False)
    assert raised.error is Errors.PRODUCER_FENCED, (
        f"an older epoch is fenced, whoever has it; yours: {raised.error.name}"
    )
    fence = metadata.prepare_fence_producer_epoch(now_ms)
    _, is_raised = prepare(fence.producer_epoch, S.PREPARE_ABORT, False)
    assert is_raised is True, "the epoch was raised for this abort: True, since it must be noted if its append fails"
    metadata.cancel()
    metadata.current = type(metadata.current)(**{**vars(metadata.current), "state": S.COMPLETE_COMMIT})
    found = prepare(fence.producer_epoch, S.PREPARE_COMMIT, True)
    assert found == (None, False), f"it was committed before: no transition, and no raised epoch; yours: {found}"
