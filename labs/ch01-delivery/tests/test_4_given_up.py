"""Task 4: delivery.timeout.ms is a promise to whoever sends a record: after it, they know."""

import pytest

from kafka_lite.common.errors import Errors


def told(producer):
    """Note what the transaction manager learns of batches that end."""
    calls = []
    real = producer.transactions.failed

    def failed(batch, error, *, broker_has_refused):
        calls.append((batch, broker_has_refused, batch.is_done))
        real(batch, error, broker_has_refused=broker_has_refused)

    producer.transactions.failed = failed
    return calls


def expire(producer, after_ms):
    producer.time.sleep(after_ms)
    producer.sender._expire(producer.time.hi_res_ms())


@pytest.mark.points(5, task=4)
def test_queued_batches(shop, outcome):
    """Two partitions whose batches wait in the accumulator"""
    producer = shop()
    futures = [producer.send(1), producer.send(2), producer.send(3, partition=1)]
    expire(producer, 999)
    assert [outcome(each) for each in futures] == ["waiting"] * 3, "1 ms of delivery.timeout.ms is left"
    expire(producer, 1)
    found = [outcome(each) for each in futures]
    assert found == ["REQUEST_TIMED_OUT"] * 3, f"delivery.timeout.ms is over for all three; their futures: {found}"
    assert producer.memory_in_use == 0, (
        f"no request uses their memory: return it; {producer.memory_in_use} bytes are missing"
    )
    failed = sorted(producer.noted.of("failed"))
    assert failed == [("failed", "orders", 1), ("failed", "orders", 2)], (
        f"a batch of two records and one of one have failed; you counted {failed}"
    )


@pytest.mark.points(6, task=4)
def test_batches_in_flight(shop, outcome):
    """Two requests without a response"""
    producer = shop()
    futures = [producer.ship(1), producer.ship(2, partition=1)]
    used = producer.memory_in_use
    expire(producer, 999)
    assert [outcome(each) for each in futures] == ["waiting"] * 2, "1 ms of delivery.timeout.ms is left"
    expire(producer, 1)
    found = [outcome(each) for each in futures]
    assert found == ["REQUEST_TIMED_OUT"] * 2, f"a batch in flight is given up, too; their futures: {found}"
    assert producer.memory_in_use == used, (
        "the requests still use the memory of these batches: it is returned with the response, not before"
    )
    expire(producer, 5)
    failed = producer.noted.of("failed")
    assert failed == [("failed", "orders", 1)] * 2, f"each record fails once, however often you look; counted: {failed}"
    producer.arrive()
    assert producer.memory_in_use == 0, "the responses have come: all memory is returned"
    assert producer.log == [1], "(the leader has appended the record all the same: nobody knows)"


@pytest.mark.points(5, task=4)
def test_numbers_that_are_missing(shop):
    """An idempotent producer: a batch that waits for its retry, and one in flight"""
    producer = shop(idempotent=True)
    producer.faults.append(Errors.NOT_ENOUGH_REPLICAS)
    producer.ship(1)
    batch = producer.batch()
    producer.network.is_slow = False
    producer.turn()
    calls = told(producer)
    expire(producer, 1000)
    assert [(each, refused) for each, refused, _ in calls] == [(batch, False)], (
        "a queued batch that was sent before has a number which may never arrive: tell the transaction manager "
        f"(failed, broker_has_refused=False, since nobody knows), once; you told it of {len(calls)}"
    )
    assert calls[0][2] is False, "tell the manager first: callbacks of the batch may already ask for its state"
    producer = shop(idempotent=True)
    producer.ship(1)
    calls = told(producer)
    expire(producer, 1000)
    assert calls == [], "the batch is in flight: its response will still say whether its number has arrived"


@pytest.mark.points(4, task=4)
def test_a_turn_gives_up(shop, outcome):
    """run_once, with nothing ready: the sender wakes up in time"""
    producer = shop()
    future = producer.ship(1)
    producer.turn(120)
    assert outcome(future) == "REQUEST_TIMED_OUT", f"after 1,200 ms of turns; its future: {outcome(future)}"
