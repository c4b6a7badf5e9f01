"""Task 4: a producer that does not come back."""

import pytest

from kafka_learn.labs.coordinators import A0, TIMEOUT_MS
from kafka_lite.coordinator.transaction.transaction_state import TransactionState

S = TransactionState
PRODUCER = (7, 3)


@pytest.mark.points(7, task=4)
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
    metadata.pending_state = S.PREPARE_COMMIT
    assert not metadata.is_timed_out(100_000), (
        "the producer's commit is on its way to the log: the timeout must not abort it now"
    )


@pytest.mark.points(8, task=4)
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
