"""Task 1: what replicas must do."""

import pytest

from kafka_learn.labs.controllers import replica, responds


@pytest.mark.points(10, task=1)
def test_what_is_in_it(collected):
    """One partition for brokers 1, 2 and 3"""
    collected.order([1, 2, 3])
    collected.send()
    requests = dict(collected.told("LeaderAndIsr"))
    assert sorted(requests) == [1, 2, 3], f"the named brokers get LeaderAndIsr: [1, 2, 3], not {sorted(requests)}"
    (state,) = requests[2].partition_states()
    found = (state.leader, list(state.isr), state.leader_epoch, state.partition_epoch, state.controller_epoch)
    assert found == (1, [1, 2, 3], 4, 7, 5), (
        f"leader 1, ISR [1, 2, 3], leader epoch 4, version 7 in ZooKeeper, controller epoch 5; yours {found}"
    )
    assert list(state.replicas) == [1, 2, 3], f"and the assigned replicas; yours {list(state.replicas)}"


@pytest.mark.points(8, task=1)
def test_the_last_state_wins(collected):
    """A partition changes twice within a batch; another one once"""
    collected.order([2], epoch=4)
    collected.order([2], epoch=5, leader=3)
    collected.order([2], number=1)
    collected.send()
    (_, request), *more = collected.told("LeaderAndIsr")
    assert not more, "one request for the broker, whatever the number of partitions"
    epochs = {state.partition_index: state.leader_epoch for state in request.partition_states()}
    assert epochs == {0: 5, 1: 4}, f"of partition 0 only the last state, epoch 5; partition 1 beside it; yours {epochs}"


@pytest.mark.points(8, task=1)
def test_everybody_learns_of_it(collected):
    """Broker 4 has no replica; broker -1 is nobody"""
    collected.order([1, -1])
    collected.send()
    assert [number for number, _ in collected.told("LeaderAndIsr")] == [1], "broker -1 stands for none: skip it"
    told = sorted(number for number, _ in collected.told("UpdateMetadata"))
    assert told == [1, 2, 3, 4], f"what changes for a replica changes for the metadata of all; you told {told}"


@pytest.mark.points(7, task=1)
def test_stops(collected):
    """Broker 2 stops one replica and deletes another"""
    heard = []
    collected.batch.add_stop_replica(replica(2), delete=False)
    collected.batch.add_stop_replica(replica(2), delete=True, callback=lambda *said: heard.append(said))
    sent = collected.send()
    kinds = [request.delete_partitions for _, request in collected.told("StopReplica")]
    assert kinds == [False, True], f"one that stops, one that deletes; yours {kinds}"
    responds(sent)
    assert len(heard) == 1, "the callback gets the response to the deletion"


@pytest.mark.points(7, task=1)
def test_a_batch_that_was_never_sent(collected):
    """new_batch, although something was collected"""
    collected.batch.add_stop_replica(replica(2), delete=False)
    try:
        collected.batch.new_batch()
    except RuntimeError:
        pass
    else:
        pytest.fail("a state was changed and nobody was told: raise RuntimeError")
    try:
        collected.batch.new_batch()
    except RuntimeError:
        pytest.fail("what was never sent is dropped with the error, or every later batch would fail")
    assert collected.send() == [], "and it must not be sent with the next batch"
