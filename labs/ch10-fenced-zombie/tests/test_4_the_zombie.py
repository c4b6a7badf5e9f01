"""Task 4: the requests of an old epoch, at the coordinator and at a partition."""

import pytest

from kafka_learn.labs.coordinators import A0


@pytest.mark.points(7, task=4)
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
    assert coordinator.state == "Empty", f"none of them has begun a transaction; the id is {coordinator.state}"
    found = coordinator.add(heir, A0)
    assert found == "NONE", f"the heir has the current id and epoch: NONE, not {found}"


@pytest.mark.points(8, task=4)
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
