"""The producer while requests and responses are lost, cut, delayed and rejected keeps its guarantees."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.producer.buffer_pool import BufferExhaustedError, ProducerClosedError
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.faulty_cluster import FaultyCluster, faulty_cluster
from tests.support.patience import patient_s
from tests.support.producers import MemoryWatch, Outcomes, is_in_order

TOPIC = "t"
PARTITIONS = 3
RECORDS = 2400
CONFIG: Mapping[str, object] = {
    "batch.size": 400, "linger.ms": 1, "retry.backoff.ms": 10, "reconnect.backoff.ms": 10, "request.timeout.ms": 500,
    "delivery.timeout.ms": 60_000, "buffer.memory": 20_000,
}  # fmt: skip
IDEMPOTENT = {"enable.idempotence": True}
ONE_IN_FLIGHT = {"enable.idempotence": False, "max.in.flight.requests.per.connection": 1}
PLAIN = {"enable.idempotence": False}
WAIT_S = 60.0


@pytest.fixture
def setup() -> Iterator[FaultyCluster]:
    with faulty_cluster() as faulty:
        faulty.cluster.create_topic(TOPIC, partitions=PARTITIONS)
        yield faulty


def produce_under_faults(setup: FaultyCluster, seed: int, **config: object) -> Outcomes:
    outcomes = Outcomes()
    configs = {"bootstrap.servers": setup.bootstrap_servers, **CONFIG, **config}
    with KafkaProducer(configs) as producer:
        memory = MemoryWatch(producer)
        with setup.faults(seed):
            for number in range(RECORDS):
                record = ProducerRecord(TOPIC, b"%06d" % number, partition=number % PARTITIONS)
                producer.send(record, outcomes.callback(number))
                if number % 3 == 0:
                    time.sleep(0.003)
        assert producer.flush(1000 * patient_s(WAIT_S))
        memory.check_all_came_back()
    assert setup.proxy.cuts > 0
    assert (memory.splits > 0) == ("linger.ms" in config)
    return outcomes


def check_what_was_acknowledged(cluster: Cluster, outcomes: Outcomes) -> list[list[int]]:
    """Every callback once, every record at the offset of its callback; returns the numbers of each partition."""
    outcomes.check_each_was_called_once(RECORDS)
    assert outcomes.errors == {}
    numbers: list[list[int]] = [[] for _ in range(PARTITIONS)]
    found = {}
    for record in cluster.records(TOPIC):
        assert record.value is not None
        found[record.partition, record.offset] = int(record.value)
        numbers[record.partition].append(int(record.value))
    assert all(found[place] == number for number, place in outcomes.places.items())
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_with_idempotence_nothing_is_lost_or_duplicated_and_all_is_in_order(setup: FaultyCluster, seed: int) -> None:
    outcomes = produce_under_faults(setup, seed, **IDEMPOTENT)
    numbers = check_what_was_acknowledged(setup.cluster, outcomes)
    assert numbers == [list(range(partition, RECORDS, PARTITIONS)) for partition in range(PARTITIONS)]


@pytest.mark.slow
def test_with_one_request_in_flight_nothing_is_lost_and_all_is_in_order(setup: FaultyCluster) -> None:
    numbers = check_what_was_acknowledged(setup.cluster, produce_under_faults(setup, 3, **ONE_IN_FLIGHT))
    for partition in range(PARTITIONS):
        assert set(numbers[partition]) == set(range(partition, RECORDS, PARTITIONS))
        assert is_in_order(numbers[partition])


@pytest.mark.slow
def test_without_either_nothing_is_lost(setup: FaultyCluster) -> None:
    numbers = check_what_was_acknowledged(setup.cluster, produce_under_faults(setup, 4, **PLAIN))
    for partition in range(PARTITIONS):
        assert set(numbers[partition]) == set(range(partition, RECORDS, PARTITIONS))


@pytest.mark.slow
def test_too_large_batches_are_split_despite_faults(setup: FaultyCluster) -> None:
    """In order, each record once, in the memory of the original batch."""
    setup.cluster.delete_topic(TOPIC)
    setup.cluster.create_topic(TOPIC, PARTITIONS, {"max.message.bytes": 150})
    outcomes = produce_under_faults(setup, 5, **IDEMPOTENT, **{"linger.ms": 30})
    numbers = check_what_was_acknowledged(setup.cluster, outcomes)
    assert numbers == [list(range(partition, RECORDS, PARTITIONS)) for partition in range(PARTITIONS)]


@pytest.mark.parametrize("mode", [IDEMPOTENT, ONE_IN_FLIGHT, PLAIN], ids=["idempotent", "one in flight", "plain"])
def test_a_stuck_broker_fills_the_buffer_and_each_record_completes(
    setup: FaultyCluster, mode: Mapping[str, object]
) -> None:
    """A record without memory within max.block.ms fails; all accepted records arrive when the broker resumes."""
    outcomes = Outcomes()
    configs = {"bootstrap.servers": setup.bootstrap_servers, **CONFIG, **mode, "max.block.ms": 50}
    with KafkaProducer(configs | {"buffer.memory": 4000, "request.timeout.ms": 20_000}) as producer:
        memory = MemoryWatch(producer)
        eventually(lambda: _knows_the_topic(producer))
        with setup.cluster.paused():
            for number in range(300):
                record = ProducerRecord(TOPIC, b"%040d" % number, partition=0)
                producer.send(record, outcomes.callback(number))
                if len(outcomes.errors) == 5:
                    break
            assert len(outcomes.errors) == 5
            assert not outcomes.places
        sent = number + 1
        assert producer.flush(1000 * patient_s(WAIT_S))
        memory.check_all_came_back()
    outcomes.check_each_was_called_once(sent)
    assert all(isinstance(error, BufferExhaustedError) for error in outcomes.errors.values())
    accepted = [number for number in range(sent) if number not in outcomes.errors]
    assert [int(value or b"") for value in setup.cluster.values(TOPIC, 0)] == accepted


@pytest.mark.soak
@pytest.mark.parametrize("mode", [IDEMPOTENT, PLAIN], ids=["idempotent", "plain"])
def test_every_record_expires_at_a_broker_that_stays_stuck(setup: FaultyCluster, mode: Mapping[str, object]) -> None:
    outcomes = Outcomes()
    configs = {"bootstrap.servers": setup.bootstrap_servers, **CONFIG, **mode}
    with KafkaProducer(configs | {"delivery.timeout.ms": 3000, "request.timeout.ms": 300}) as producer:
        memory = MemoryWatch(producer)
        producer.send(ProducerRecord(TOPIC, b"first", partition=0)).get(1000 * patient_s(WAIT_S))
        setup.cluster.inject("Produce").no_response().always()
        for number in range(50):
            producer.send(ProducerRecord(TOPIC, b"%d" % number, partition=1), outcomes.callback(number))
        assert producer.flush(1000 * patient_s(WAIT_S))
        outcomes.check_each_was_called_once(50)
        # Most expire while they wait; the others end with the connection, which request.timeout.ms closes.
        ends = {Errors.REQUEST_TIMED_OUT, Errors.NETWORK_EXCEPTION}
        assert {_error_of(error) for error in outcomes.errors.values()} <= ends
        assert not outcomes.places
        setup.cluster.reset()
        producer.send(ProducerRecord(TOPIC, b"again", partition=1)).get(1000 * patient_s(WAIT_S))
        assert producer.flush(1000 * patient_s(WAIT_S))
        eventually(lambda: memory._pool.available_memory == memory._pool.total_memory)
        memory.check_all_came_back()
    assert setup.cluster.values(TOPIC, 1)[-1] == b"again"
    assert setup.cluster.values(TOPIC, 1).count(b"again") == 1


@pytest.mark.parametrize("mode", [IDEMPOTENT, ONE_IN_FLIGHT, PLAIN], ids=["idempotent", "one in flight", "plain"])
def test_a_topic_that_is_deleted_and_recreated(setup: FaultyCluster, mode: Mapping[str, object]) -> None:
    """Records sent meanwhile wait for the topic; the new one is filled in order, from any record on."""
    outcomes, number, stop = Outcomes(), 0, threading.Event()
    configs = {"bootstrap.servers": setup.bootstrap_servers, **CONFIG, **mode, "metadata.max.age.ms": 200}
    errors_of_change: list[Exception] = []

    def change() -> None:
        try:
            for _ in range(3):
                time.sleep(0.2)
                setup.cluster.delete_topic(TOPIC)
                time.sleep(0.2)
                setup.cluster.create_topic(TOPIC, partitions=PARTITIONS)
        except KafkaError as error:
            errors_of_change.append(error)
        stop.set()

    with KafkaProducer(configs) as producer:
        memory = MemoryWatch(producer)
        thread = threading.Thread(target=change)
        thread.start()
        while not stop.is_set() or number % 100:
            record = ProducerRecord(TOPIC, b"%06d" % number, partition=number % PARTITIONS)
            producer.send(record, outcomes.callback(number))
            number += 1
            time.sleep(0.001)
        thread.join()
        assert producer.flush(1000 * patient_s(WAIT_S))
        last = producer.send(ProducerRecord(TOPIC, b"%06d" % number, partition=0), outcomes.callback(number))
        place = last.get(1000 * patient_s(WAIT_S))
        memory.check_all_came_back()
    assert not errors_of_change
    outcomes.check_each_was_called_once(number + 1)
    assert not outcomes.errors
    for partition in range(PARTITIONS):
        found = [int(value or b"") for value in setup.cluster.values(TOPIC, partition)]
        if mode is IDEMPOTENT:
            assert len(found) == len(set(found))
        if mode is not PLAIN:
            assert is_in_order(found)
    assert setup.cluster.values(TOPIC, 0)[place.offset] == b"%06d" % number


@pytest.mark.soak
def test_a_topic_that_is_deleted_for_good(setup: FaultyCluster) -> None:
    """Records that wait for it expire and delay nothing else; later ones fail because it does not exist."""
    setup.cluster.create_topic("other")
    outcomes, count = Outcomes(), 20
    configs = {"bootstrap.servers": setup.bootstrap_servers, **CONFIG, **IDEMPOTENT}
    with KafkaProducer(configs | {"delivery.timeout.ms": 3000, "max.block.ms": 2000}) as producer:
        memory = MemoryWatch(producer)
        producer.send(ProducerRecord(TOPIC, b"v", partition=0)).get(1000 * patient_s(WAIT_S))
        setup.cluster.delete_topic(TOPIC)
        for number in range(count):
            producer.send(ProducerRecord(TOPIC, b"%d" % number, partition=number % 3), outcomes.callback(number))
        producer.send(ProducerRecord("other", b"v")).get(1000 * patient_s(WAIT_S))
        assert producer.flush(1000 * patient_s(WAIT_S))
        outcomes.check_each_was_called_once(count)
        assert not outcomes.places
        error = producer.send(ProducerRecord(TOPIC, b"late", partition=0)).exception(1000 * patient_s(WAIT_S))
        assert "not present in metadata" in str(error)
        producer.send(ProducerRecord("other", b"w")).get(1000 * patient_s(WAIT_S))
        memory.check_all_came_back()
    assert setup.cluster.values("other") == [b"v", b"w"]


@pytest.mark.parametrize("mode", [IDEMPOTENT, PLAIN], ids=["idempotent", "plain"])
def test_closing_during_faults_completes_every_record(setup: FaultyCluster, mode: Mapping[str, object]) -> None:
    outcomes, count = Outcomes(), 200
    setup.cluster.inject("Produce").no_response().always()
    producer = KafkaProducer({"bootstrap.servers": setup.bootstrap_servers, **CONFIG, **mode})
    memory = MemoryWatch(producer)
    for number in range(count):
        producer.send(ProducerRecord(TOPIC, b"v", partition=number % PARTITIONS), outcomes.callback(number))
    producer.close(timeout_ms=50)
    outcomes.check_each_was_called_once(count)
    assert not outcomes.places
    assert all(isinstance(error, ProducerClosedError) for error in outcomes.errors.values())
    memory.check_all_came_back()


def _error_of(error: Exception) -> Errors | None:
    return error.error if isinstance(error, ApiError) else None


def _knows_the_topic(producer: KafkaProducer) -> bool:
    try:
        return len(producer.partitions_for(TOPIC)) == PARTITIONS
    except ApiError:
        return False
