"""Task 3: InitProducerId fences the producer before."""

import pytest

from kafka_learn.labs.coordinators import A0
from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.coordinator.transaction.transaction_coordinator import _may_continue
from kafka_lite.coordinator.transaction.transaction_metadata import MAX_EPOCH
from kafka_lite.coordinator.transaction.transaction_state import TransactionState

S = TransactionState
BUSY, FENCED = Errors.CONCURRENT_TRANSACTIONS, Errors.PRODUCER_FENCED


def set_to(coordinator, state, **changes):
    """The id in this state, also if it is there."""
    metadata = coordinator.put(state)
    current = {**vars(metadata.current), "state": state, "producer_epoch": 3, **changes}
    metadata.current = type(metadata.current)(**current)


@pytest.mark.points(5, task=3)
def test_start_after_start(coordinator):
    """Three producers, one after the other"""
    found = [tuple(coordinator.init().producer) for _ in range(3)]
    assert found == [(1000, 0), (1000, 1), (1000, 2)], (
        f"each start gets the next epoch of the same producer id: (1000, 0), (1000, 1), (1000, 2), not {found}"
    )
    second = found[1]
    result = coordinator.init(second)
    assert result.error is FENCED, (
        f"epoch 1 names itself, but epoch 2 was given to a producer that had just started: {FENCED.name}, "
        f"not {result.error.name}"
    )


@pytest.mark.points(7, task=3)
def test_an_open_transaction(coordinator):
    """It is aborted first, with the raised epoch"""
    zombie = coordinator.init().producer
    coordinator.add(zombie, A0)
    result = coordinator.init()
    assert result.error is BUSY, (
        f"the transaction is aborted first, the producer retries: {BUSY.name}, not {result.error.name}"
    )
    markers = [(str(each.partition), each.producer_epoch, each.commit) for each in coordinator.markers]
    assert markers == [("a-0", 1, False)], f"a-0 gets an abort marker with the raised epoch 1; yours: {markers}"
    result = coordinator.init()
    assert tuple(result.producer) == (1000, 2), (
        f"the retry gets the next epoch: 1000 with epoch 2, not {tuple(result.producer)} ({result.error.name})"
    )


@pytest.mark.points(6, task=3)
def test_who_may_continue(coordinator):
    """The id is busy, a stranger, an old epoch, epochs that are used up"""
    set_to(coordinator, S.PREPARE_COMMIT, topic_partitions=frozenset({A0}))
    for expected in (None, (7, 3), (8, 3)):
        error = coordinator.init(expected).error
        assert error is BUSY, (
            f"markers are being written, so even {expected or 'a new producer'} waits: {BUSY.name} comes first, "
            f"not {error.name}"
        )
    set_to(coordinator, S.EMPTY, last_producer_id=6, last_producer_epoch=2)
    for expected, why in (
        ((8, 3), "8 is not the producer id"),
        ((6, 2), "6 was replaced before its epochs were used up"),
    ):
        error = coordinator.init(expected).error
        assert error is FENCED, f"InitProducerId of {expected}: {why}; {FENCED.name}, not {error.name}"
    set_to(coordinator, S.ONGOING, topic_partitions=frozenset({A0}))
    error = coordinator.init((8, 3)).error
    assert error is FENCED, f"a stranger must not abort the transaction: {FENCED.name}, not {error.name}"
    set_to(coordinator, S.COMPLETE_COMMIT, producer_epoch=MAX_EPOCH - 1)
    result = coordinator.init((7, MAX_EPOCH - 1))
    assert tuple(result.producer) == (1000, 0), (
        f"the epochs of 7 are used up: another producer id with epoch 0, not {tuple(result.producer)}"
    )
    result = coordinator.init((7, MAX_EPOCH - 1))
    assert tuple(result.producer) == (1000, 0), (
        f"it names the id before, because the response was lost: 1000 with epoch 0 again, not {tuple(result.producer)} "
        f"({result.error.name})"
    )


@pytest.mark.points(3, task=3)
def test_may_continue(coordinator):
    """The current id, the last one whose epochs were used up, or any if there is no epoch yet"""
    set_to(coordinator, S.EMPTY, last_producer_id=6)
    current = coordinator.metadata.current
    last = MAX_EPOCH - 1
    for expected, wanted in (((7, 3), True), ((7, 2), True), ((6, last), True), ((6, 3), False), ((9, last), False)):
        found = _may_continue(current, ProducerIdAndEpoch(*expected))
        assert found == wanted, (
            f"the id is 7 and the last one 6; the epoch counts for the last id only: {expected} may"
            f"{'' if wanted else ' not'} continue"
        )
    set_to(coordinator, S.EMPTY, producer_epoch=-1)
    found = _may_continue(coordinator.metadata.current, ProducerIdAndEpoch(9, 3))
    assert found, "the id has no epoch yet (it had expired, say): any producer may continue, also (9, 3)"


@pytest.mark.points(4, task=3)
def test_epochs_that_are_used_up(coordinator):
    """A producer that has just started, and one that repeats its request"""
    last = MAX_EPOCH - 1
    set_to(coordinator, S.EMPTY, producer_epoch=last, last_producer_epoch=last - 1)
    result = coordinator.init((7, last - 1))
    assert tuple(result.producer) == (7, last), (
        f"it repeats a request whose response, (7, {last}), was lost: it gets that again, and no other id; not "
        f"{tuple(result.producer)} ({result.error.name})"
    )
    set_to(coordinator, S.EMPTY, producer_epoch=last)
    result = coordinator.init()
    assert tuple(result.producer) == (1000, 0), (
        f"a producer has just started, and the epochs of 7 are used up: another id, not {tuple(result.producer)}"
    )
    error = coordinator.init((7, last)).error
    assert error is FENCED, (
        f"who has just started is the newest: (7, {last}) is a zombie, no retry: {FENCED.name}, not {error.name}"
    )
