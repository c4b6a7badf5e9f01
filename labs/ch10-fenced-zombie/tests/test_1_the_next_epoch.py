"""Task 1: which epoch a starting producer gets, and what is remembered of the one before."""

import pytest

from kafka_learn.labs.coordinators import A0, TIMEOUT_MS
from kafka_lite.coordinator.transaction.transaction_state import TransactionState

EMPTY = TransactionState.EMPTY


def given(coordinator, expected, **changes):
    """(epoch, last epoch) of the id after InitProducerId; None if the producer is fenced."""
    metadata = coordinator.put(EMPTY, **changes)
    metadata.current = type(metadata.current)(**{**vars(metadata.current), **changes})
    transit = metadata.prepare_increment_producer_epoch(TIMEOUT_MS, expected, 9_000)
    if transit is None:
        return None
    metadata.complete(transit)
    return transit.producer_epoch, transit.last_producer_epoch


@pytest.mark.points(5, task=1)
def test_a_new_id(coordinator):
    """No epoch yet"""
    found = given(coordinator, None, producer_epoch=-1)
    assert found == (0, -1), f"the first epoch is 0, and there is none before: (0, -1), not {found}"
    found = given(coordinator, 12, producer_epoch=-1)
    assert found == (0, -1), f"nothing is known of epoch 12 any more (the id had expired): (0, -1), not {found}"


@pytest.mark.points(1, task=1)
def test_nothing_changes_before_the_append(coordinator):
    """What the id is like between prepare and complete"""
    metadata = coordinator.put(EMPTY, producer_epoch=3)
    before = metadata.current
    transit = metadata.prepare_increment_producer_epoch(TIMEOUT_MS, 3, 9_000)
    assert metadata.current == before, (
        "prepare says what the state would be; it becomes that when it is in the log (complete): if the append fails, "
        f"the producer must still have epoch 3, not {metadata.current.producer_epoch}"
    )
    metadata.complete(transit)
    assert metadata.current.producer_epoch == 4, (
        f"after the append it is epoch 4, not {metadata.current.producer_epoch}"
    )


@pytest.mark.points(7, task=1)
def test_a_producer_that_continues(coordinator):
    """It names its epoch, also when it got no response"""
    found = given(coordinator, 3, producer_epoch=3)
    assert found == (4, 3), f"it has epoch 3 and gets the next one; 3 is remembered for its retry: (4, 3), not {found}"
    found = given(coordinator, 3, producer_epoch=4, last_producer_epoch=3)
    assert found == (4, 3), (
        "it names 3, the last epoch, because the response with 4 was lost: it gets 4 again, and 3 stays remembered: "
        f"(4, 3), not {found}"
    )
    found = given(coordinator, 2, producer_epoch=4, last_producer_epoch=3)
    assert found is None, (
        f"2 is older than the last epoch: another producer has had 3, so it is fenced: None, not {found}"
    )
    found = given(coordinator, 9, producer_epoch=4, last_producer_epoch=3)
    assert found is None, f"9 was never given to a producer of this id: it is fenced, too: None, not {found}"
    found = given(coordinator, 0, producer_epoch=0)
    assert found == (1, 0), f"it has epoch 0, an epoch like any other, and gets the next: (1, 0), not {found}"


@pytest.mark.points(7, task=1)
def test_a_producer_that_has_just_started(coordinator):
    """It names none, and fences the one before with its retries"""
    before = {"topic_partitions": frozenset({A0}), "start_timestamp_ms": 5_000, "timeout_ms": 1}
    found = given(coordinator, None, producer_epoch=3, last_producer_epoch=2, **before)
    assert found is not None, "a producer that has just started is never fenced: it is the newest"
    assert found[0] == 4, f"a new epoch, 4, fences the producer before; yours: {found[0]}"
    assert found[1] == -1, (
        f"the last epoch becomes -1, not {found[1]}: a zombie with epoch {found[1]} could pass as a retry, and get the "
        "epoch of the new producer"
    )
    transit = coordinator.metadata.current
    assert (transit.state, len(transit.topic_partitions)) == (EMPTY, 0), "it begins without a transaction"
    times = transit.start_timestamp_ms, transit.last_update_timestamp_ms, transit.timeout_ms
    assert times == (-1, 9_000, TIMEOUT_MS), (
        f"no transaction has begun (-1), it is updated at 9000, and has the timeout of this producer; yours: {times}"
    )
    assert (transit.producer_id, transit.last_producer_id) == (7, 7), (
        "the producer id is the same, and so is the last one"
    )
