"""Task 4: a producer that does not come back."""

import pytest

from kafka_learn.labs.coordinators import A0, TIMEOUT_MS, metadata_of
from kafka_lite.coordinator.transaction.transaction_metadata import IllegalTransitionError, TransactionMetadata
from kafka_lite.coordinator.transaction.transaction_state import TransactionState

S = TransactionState
PRODUCER = (7, 3)


@pytest.mark.points(5, task=4)
def test_who_has_timed_out(an_id):
    """In each state, before and after the timeout"""
    for state in S:
        metadata = an_id(state)
        late = metadata.is_timed_out(5_000 + 60_000 + 1)
        assert late is (state is S.ONGOING), (
            f"{state.title}, 60001 ms after the start, with a timeout of 60000 ms: only an open transaction times out; "
            f"{state is S.ONGOING}, not {late}"
        )
    metadata = an_id(S.ONGOING)
    assert not metadata.is_timed_out(5_000 + 60_000), "60000 ms after the start it has not lasted longer than that"
    metadata = an_id(S.ONGOING, last_update_timestamp_ms=60_000)
    assert metadata.is_timed_out(65_001), (
        "the timeout counts from the start of the transaction, 5000 ms, not from its last update, 60000 ms"
    )
    metadata.pending_state = S.PREPARE_COMMIT
    assert not metadata.is_timed_out(100_000), (
        "the producer's commit is on its way to the log: the timeout must not abort it now"
    )


@pytest.mark.points(6, task=4)
def test_the_coordinator_aborts(coordinator):
    """A producer begins and does nothing more"""
    producer = coordinator.init().producer
    coordinator.add(producer, A0)
    coordinator.coordinator.abort_timed_out_transactions()
    assert coordinator.state == "Ongoing", f"the timeout is not over: Ongoing, not {coordinator.state}"
    coordinator.time.sleep(TIMEOUT_MS + 1)
    coordinator.coordinator.abort_timed_out_transactions()
    assert coordinator.state == "CompleteAbort", (
        f"the transaction has timed out: it is aborted, not {coordinator.state}"
    )
    epochs = [each.producer_epoch for each in coordinator.markers]
    assert epochs == [producer.epoch + 1], (
        f"the abort marker has the raised epoch {producer.epoch + 1}, which keeps the slow producer out of the "
        f"partition; yours: {epochs}"
    )
    found = coordinator.end(producer, commit=True)
    assert found == "PRODUCER_FENCED", f"its commit comes too late: PRODUCER_FENCED, not {found}"
    coordinator.coordinator.abort_timed_out_transactions()
    assert len(coordinator.markers) == 1, "the transaction has ended: it must not be aborted a second time"


@pytest.mark.points(4, task=4)
def test_one_ends_before_the_lock(coordinator, monkeypatch):
    """Three have timed out, and the second is committed in this very moment"""
    manager, start_ms = coordinator.manager, coordinator.time.milliseconds() - TIMEOUT_MS - 1
    ids = {
        name: manager.put_if_absent(
            metadata_of(name, S.ONGOING, start_ms, topic_partitions=frozenset({A0}), start_timestamp_ms=start_ms)
        )[1]
        for name in ("first", "second", "third")
    }
    found = list(manager.timed_out())
    found.sort(key=lambda each: each[1].transactional_id)
    manager.timed_out = lambda: found
    held, looks, prepare_fence = [], [], TransactionMetadata.prepare_fence_producer_epoch

    def fence(self, now_ms):
        held.append(self.lock._is_owned() and looks[-1:] == [True])
        return prepare_fence(self, now_ms)

    monkeypatch.setattr(TransactionMetadata, "prepare_fence_producer_epoch", fence)
    is_timed_out = TransactionMetadata.is_timed_out

    def timed_out(self, now_ms):
        looks.append(self.lock._is_owned())
        return is_timed_out(self, now_ms)

    monkeypatch.setattr(TransactionMetadata, "is_timed_out", timed_out)
    second = ids["second"].current
    ids["second"].current = type(second)(**{**vars(second), "state": S.COMPLETE_COMMIT})
    try:
        coordinator.coordinator.abort_timed_out_transactions()
    except IllegalTransitionError as error:
        pytest.fail(f"ask again under the lock whether it has timed out: it may have ended since the search; {error}")
    states = [each.state.title for each in ids.values()]
    assert states == ["CompleteAbort", "CompleteCommit", "CompleteAbort"], (
        f"the second was committed meanwhile and is left alone, the first and the third are aborted; yours: {states}"
    )
    assert held == [True, True], (
        "the producer may commit between your look at the clock and the fence: hold metadata.lock for both"
    )
