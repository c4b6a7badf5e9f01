"""Task 3: five ends of a batch."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.sender import outcome_of

FIRST = TopicPartition("orders", 0)


@pytest.mark.points(5, task=3)
def test_success(shop, outcome):
    """A batch that was appended"""
    producer = shop()
    futures = [producer.ship(1), producer.ship(2)]
    producer.arrive()
    assert [outcome(each) for each in futures] == ["stored", "stored"], (
        f"both batches were appended: their futures are {[outcome(each) for each in futures]}"
    )
    assert [each.get(0).offset for each in futures] == [0, 1], "each future has the offset of its own batch"
    assert producer.log == [1, 2], f"each batch is sent once; the leader has {producer.log}"
    assert producer.memory_in_use == 0, f"{producer.memory_in_use} bytes of batches that are done were not returned"


@pytest.mark.points(4, task=3)
def test_a_duplicate(shop, outcome):
    """DUPLICATE_SEQUENCE_NUMBER, with and without numbers"""
    numbered, plain = shop(idempotent=True), shop()
    for producer in (numbered, plain):
        producer.faults.append(Errors.DUPLICATE_SEQUENCE_NUMBER)
    future, other = numbered.ship(1), plain.ship(1)
    for producer in (numbered, plain):
        producer.arrive()
    assert outcome(future) == "stored", (
        f"an earlier attempt of this numbered batch was appended, so it is a success; its future: {outcome(future)}"
    )
    assert outcome(other) == "DUPLICATE_SEQUENCE_NUMBER", (
        f"a batch without a number cannot be a duplicate: it fails; its future: {outcome(other)}"
    )
    assert numbered.memory_in_use == plain.memory_in_use == 0, "the memory of both is returned"


@pytest.mark.points(6, task=3)
def test_another_attempt(shop, outcome):
    """NOT_ENOUGH_REPLICAS twice, then success"""
    producer = shop()
    producer.faults.extend([Errors.NOT_ENOUGH_REPLICAS] * 2)
    future = producer.ship(1)
    batch = producer.batch()
    producer.network.is_slow = False
    producer.turn()
    assert outcome(future) == "waiting", f"it will be sent once more: nobody is told yet; its future: {outcome(future)}"
    assert producer.accumulator.has_undrained, "it goes back into the accumulator (reenqueue), or it is never sent"
    assert batch.attempts == 1, f"one attempt has failed; you counted {batch.attempts}"
    assert not producer.network.requests, "it waits for its backoff before it is sent again"
    producer.arrive()
    assert outcome(future) == "stored", f"the third attempt was appended; its future: {outcome(future)}"
    assert producer.log == [1], f"the leader has it once: {producer.log}"
    counted = producer.noted.of("retried", "failed")
    assert counted == [("retried", "orders", 1)] * 2, f"two retries of one record each are counted; yours: {counted}"


@pytest.mark.points(5, task=3)
def test_an_end_with_an_error(shop, outcome):
    """Two records in a batch: TOPIC_AUTHORIZATION_FAILED, and an error that stays until the retries are used up"""
    for error, requests in ((Errors.TOPIC_AUTHORIZATION_FAILED, 1), (Errors.NOT_ENOUGH_REPLICAS, 4)):
        producer = shop()
        producer.faults.extend([error] * 9)
        futures = [producer.send(1), producer.send(2)]
        producer.arrive()
        found = [outcome(each) for each in futures]
        assert found == [error.name] * 2, f"both records of the batch failed with {error.name}; their futures: {found}"
        sent = 9 - len(producer.faults)
        assert sent == requests, f"{error.name} with retries=3: {requests} requests, not {sent}"
        assert producer.memory_in_use == 0, "the memory of a batch that has failed is returned"
        failed = producer.noted.of("failed")
        assert failed == [("failed", "orders", 2)], f"two records failed, for good; you counted {failed}"


@pytest.mark.points(4, task=3)
def test_too_large(shop, outcome):
    """MESSAGE_TOO_LARGE: four records in a batch, and one"""
    producer = shop()
    producer.faults.append(Errors.MESSAGE_TOO_LARGE)
    futures = [producer.send(number, size=80) for number in range(1, 5)]
    producer.arrive()
    assert [outcome(each) for each in futures] == ["stored"] * 4, (
        f"a batch of four that is too large is split; their futures: {[outcome(each) for each in futures]}"
    )
    assert producer.log == [1, 2, 3, 4], f"its parts are sent in order; the leader has {producer.log}"
    producer = shop()
    producer.faults.append(Errors.MESSAGE_TOO_LARGE)
    future = producer.ship(1)
    producer.arrive()
    assert outcome(future) == "MESSAGE_TOO_LARGE", (
        f"a single record cannot be split: it fails; its future: {outcome(future)}"
    )


@pytest.mark.points(3, task=3)
def test_a_batch_that_was_given_up(shop, outcome):
    """The response comes after delivery.timeout.ms: an error that could be retried, and others"""
    for error in (Errors.NOT_ENOUGH_REPLICAS, Errors.MESSAGE_TOO_LARGE, Errors.TOPIC_AUTHORIZATION_FAILED):
        producer = shop()
        producer.network.is_slow = True
        future, _ = producer.send(1), producer.send(2)
        producer.sender._send_producer_data(producer.time.hi_res_ms())
        batch = producer.batch()
        batch.abort(Errors.REQUEST_TIMED_OUT.exception("the test has given it up"))
        producer.faults.append(error)
        producer.arrive(3)
        assert outcome(future) == "REQUEST_TIMED_OUT", f"its end was told already; its future: {outcome(future)}"
        found = producer.noted.of("retried", "split", "failed")
        assert found == [], (
            f"{error.name} of a batch that is done: forget it (_forget), do not retry, split or fail it; "
            f"you counted {found}"
        )
        assert producer.log == [], f"a batch that was given up is not sent once more; the leader has {producer.log}"
        assert producer.memory_in_use == 0, "the response has come: now its memory is returned"


@pytest.mark.points(4, task=3)
def test_the_leader_may_have_moved(shop):
    """New metadata after NOT_LEADER_OR_FOLLOWER, whether the batch is retried or has failed"""
    for retries in (3, 0):
        for error, wanted in (
            (Errors.NOT_LEADER_OR_FOLLOWER, True), (Errors.NETWORK_EXCEPTION, True), (Errors.NOT_ENOUGH_REPLICAS, False)
        ):  # fmt: skip
            producer = shop(retries=retries)
            producer.ship(1)
            batch = producer.batch()
            producer.sender._complete_batch(batch, outcome_of(error), producer.time.hi_res_ms())
            asked = producer.metadata.update_requested
            assert asked or not wanted, (
                f"{error.name}, retries={retries}: perhaps another broker leads by now; request an update of the "
                "metadata, whatever becomes of this batch"
            )
            assert wanted or not asked, f"{error.name} says nothing about the leader: do not ask for new metadata"


@pytest.mark.points(4, task=3)
def test_the_next_batch_of_the_partition(shop):
    """max.in.flight.requests.per.connection=1: the partition waits for the end of its batch"""
    for error in (Errors.NONE, Errors.NOT_ENOUGH_REPLICAS, Errors.TOPIC_AUTHORIZATION_FAILED):
        producer = shop(in_flight=1)
        producer.ship(1)
        assert producer.accumulator._muted == {FIRST}, "(while its batch is in flight, the partition is muted)"
        producer.faults.append(error)
        producer.network.is_slow = False
        producer.turn()
        assert producer.accumulator._muted == set(), (
            f"{error.name}: the batch is no longer in flight; unmute its partition, or nothing more is sent to it"
        )
    producer = shop()
    producer.ship(1)
    producer.accumulator.mute_partition(FIRST)
    producer.network.is_slow = False
    producer.turn()
    assert producer.accumulator._muted == {FIRST}, (
        "with several requests in flight the sender does not mute, so it must not unmute (_guarantee_message_order)"
    )
