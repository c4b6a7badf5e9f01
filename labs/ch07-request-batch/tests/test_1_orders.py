"""Task 1: what replicas must do."""

import pytest

from kafka_learn.labs.controllers import replica, responds
from kafka_learn.labs.raising import must_raise
from kafka_lite.common.topic_partition import TopicPartition


@pytest.mark.points(10, task=1)
def test_what_is_in_it(collected):
    """One partition for brokers 1, 2 and 3"""
    collected.order([1, 2, 3], controller_epoch=3)
    collected.send()
    requests = dict(collected.told("LeaderAndIsr"))
    assert sorted(requests) == [1, 2, 3], f"the named brokers get LeaderAndIsr: [1, 2, 3], not {sorted(requests)}"
    (state,) = requests[2].partition_states()
    found = (state.leader, list(state.isr), state.leader_epoch, state.partition_epoch, state.controller_epoch)
    assert found == (1, [1, 2, 3], 4, 7, 3), (
        f"leader 1, ISR [1, 2, 3], leader epoch 4, version 7 in ZooKeeper, and the epoch of the controller that wrote "
        f"the state, 3; yours {found}"
    )
    assert not state.is_new, "is_new is False unless the caller says otherwise"
    collected.order([2], isr=(1, 2), is_new=True)
    collected.send()
    (state,) = collected.told("LeaderAndIsr")[0][1].partition_states()
    assert state.is_new, "the caller said is_new=True: pass it on, or a broker makes no log"
    assert list(state.replicas) == [1, 2, 3], f"all replicas, not only the ISR [1, 2]; yours {list(state.replicas)}"
    assert list(state.isr) == [1, 2], f"the ISR is [1, 2], not all replicas; yours {list(state.isr)}"
    assigned, current = [1, 2, 3], collected.state(isr=(1, 2))
    collected.batch.add_leader_and_isr([2], TopicPartition("demo", 0), current, assigned)
    assigned.append(4)
    current.leader_and_isr.isr.append(4)
    collected.send()
    (state,) = collected.told("LeaderAndIsr")[0][1].partition_states()
    assert (list(state.replicas), list(state.isr)) == ([1, 2, 3], [1, 2]), (
        "the controller's lists may change before the batch is sent: copy them, so that the request has replicas "
        f"[1, 2, 3] and ISR [1, 2]; yours {list(state.replicas)} and {list(state.isr)}"
    )
    heard = [callback for _, request, callback in collected.controller.sent if type(request).__name__[:6] == "Leader"]
    assert all(map(callable, heard)), "the response may have errors: send with _on_leader_and_isr_response(broker_id)"


@pytest.mark.points(8, task=1)
def test_the_last_state_wins(collected):
    """A partition changes twice within a batch; another one once"""
    collected.order([2], epoch=4)
    collected.order([2], epoch=5, leader=3)
    collected.order([2], number=1)
    collected.send()
    told = collected.told("LeaderAndIsr")
    assert told, "broker 2 gets LeaderAndIsr; you sent none"
    (_, request), *more = told
    assert not more, "one request for the broker, whatever the number of partitions"
    epochs = {state.partition_index: state.leader_epoch for state in request.partition_states()}
    assert epochs == {0: 5, 1: 4}, f"of partition 0 only the last state, epoch 5; partition 1 beside it; yours {epochs}"


@pytest.mark.points(8, task=1)
def test_everybody_learns_of_it(collected):
    """Broker 4 has no replica and shuts down; broker -1 is nobody; partition 1 has a leader, and no news"""
    collected.controller.context.shutting_down_broker_ids = {4}
    collected.state(number=1)
    collected.order([0, 1, -1])
    collected.send()
    told = [number for number, _ in collected.told("LeaderAndIsr")]
    assert told == [0, 1], f"broker -1 stands for none: skip it, and only it: [0, 1], not {told}"
    told = sorted(number for number, _ in collected.told("UpdateMetadata"))
    assert told == [1, 2, 3, 4], (
        f"what changes for a replica changes for the metadata of all, also of a broker that shuts down: "
        f"[1, 2, 3, 4], not {told}"
    )
    news = [partition.partition for partition, _ in collected.told("UpdateMetadata")[0][1].partition_states()]
    assert news == [0], f"only partition 0 has changed: UpdateMetadata has [0], not {news}"


@pytest.mark.points(7, task=1)
def test_stops(collected):
    """Broker 2 stops one replica and deletes another"""
    heard = []
    collected.batch.add_stop_replica(replica(-1), delete=False)
    collected.batch.add_stop_replica(replica(0), delete=False)
    collected.batch.add_stop_replica(replica(2), delete=False)
    collected.batch.add_stop_replica(replica(2), delete=True, callback=lambda *said: heard.append(said))
    sent = collected.send()
    told = sorted({number for number, _ in collected.told("StopReplica")})
    assert told == [0, 2], f"brokers 0 and 2, since -1 stands for none; you told {told}"
    kinds = [request.delete_partitions for number, request in collected.told("StopReplica") if number == 2]
    assert kinds == [False, True], f"one that stops, one that deletes; yours {kinds}"
    responds(sent)
    assert len(heard) == 1, "the callback gets the response to the deletion"
    collected.batch.add_stop_replica(replica(1), delete=True)
    collected.batch.add_stop_replica(replica(3), delete=False, callback=lambda *said: heard.append(said))
    collected.send()
    kinds = {number: request.delete_partitions for number, request in collected.told("StopReplica")}
    assert kinds == {1: True, 3: False}, (
        f"delete says whether the replica is deleted, whether or not there is a callback: 1 deletes, 3 stops; {kinds}"
    )


@pytest.mark.points(7, task=1)
def test_a_batch_that_was_never_sent(collected):
    """new_batch, although something was collected"""
    state, demo = collected.state(), TopicPartition("demo", 0)
    batch = collected.batch
    orders = {
        "StopReplica": lambda: batch.add_stop_replica(replica(2), delete=False),
        "UpdateMetadata without a partition": lambda: batch._metadata_brokers.add(1),
        "LeaderAndIsr, with no broker alive": lambda: batch.add_leader_and_isr([2], demo, state, [1, 2, 3]),
    }
    for what, order in orders.items():
        if "LeaderAndIsr" in what:
            collected.controller.die(1, 2, 3, 4)
        order()
        must_raise(RuntimeError, f"the batch has {what}, and nobody was told", batch.new_batch)
        try:
            batch.new_batch()
        except RuntimeError:
            pytest.fail("what was never sent is dropped with the error, or every later batch would fail")
        assert collected.send() == [], f"{what} was dropped, and must not be sent with the next batch"
