"""Task 4: the requests of an old epoch, at the coordinator and at a partition."""

import pytest

from kafka_learn.labs.coordinators import A0


@pytest.mark.points(6, task=4)
def test_at_the_coordinator(coordinator):
    """AddPartitionsToTxn of a zombie, and of a stranger"""
    zombie = coordinator.init().producer
    heir = coordinator.init().producer
    found = coordinator.add(zombie, A0)
    assert found == "PRODUCER_FENCED", f"the zombie has epoch 0, its heir 1: PRODUCER_FENCED, not {found}"
    found = coordinator.add((1000, 2), A0)
    assert found == "PRODUCER_FENCED", f"epoch 2 was given to no producer: PRODUCER_FENCED, not {found}"
    found = coordinator.add((999, 1), A0)
    assert found == "INVALID_PRODUCER_ID_MAPPING", (
        f"999 is not the producer of this id: INVALID_PRODUCER_ID_MAPPING, not {found}"
    )
    found = coordinator.add((999, 0), A0)
    assert found == "INVALID_PRODUCER_ID_MAPPING", (
        f"999 is not the producer of this id, whatever its epoch is: INVALID_PRODUCER_ID_MAPPING, not {found}"
    )
    assert coordinator.state == "Empty", f"none of them has begun a transaction; the id is {coordinator.state}"
    found = coordinator.add(heir, A0)
    assert found == "NONE", f"the heir has the current id and epoch: NONE, not {found}"


@pytest.mark.points(6, task=4)
def test_at_the_partition(partition):
    """The abort marker has the raised epoch"""
    assert partition.produce(epoch=3) == "NONE", "epoch 3 writes"
    assert partition.mark(epoch=4) == "NONE", "the coordinator aborts with the raised epoch 4"
    found = partition.produce(epoch=3, sequence=1)
    assert found == "INVALID_PRODUCER_EPOCH", (
        f"the zombie does not know that it is fenced, and sends its next batch: INVALID_PRODUCER_EPOCH, not {found}. "
        "The partition learns the epoch from the marker"
    )
    state = partition.log.producer_state.active_producers[7]
    assert state.current_txn_first_offset is None, (
        f"the marker ends the transaction, but it is open since {state.current_txn_first_offset}: readers would wait"
    )
    found = partition.produce(epoch=5)
    assert found == "NONE", f"the heir has epoch 5, and its numbers begin with 0: NONE, not {found}"


@pytest.mark.points(3, task=4)
def test_what_a_marker_leaves(partition):
    """Batches of the same epoch; none of an older one"""
    partition.produce(epoch=3)
    state = partition.log.producer_state.active_producers[7]
    state.end_transaction(3, 0, 5_000)
    assert len(state.batch_metadata) == 1, "the epoch is the same: its batches are still known, for retries"
    assert state.last_timestamp == 5_000, (
        f"the producer was last seen with the marker, at 5000, not {state.last_timestamp}"
    )
    state.end_transaction(4, 0, 6_000)
    assert state.producer_epoch == 4, f"the marker raises the epoch to 4, not {state.producer_epoch}"
    assert len(state.batch_metadata) == 0, "epoch 4 is a new one: no batch of it is known, so those of 3 are forgotten"
