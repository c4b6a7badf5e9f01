"""The producer while requests and answers are lost, cut, late and refused: what it promises holds all the same."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.producer import KafkaProducer, ProducerRecord, RecordMetadata
from kafka_lite.testing.cluster import Cluster

TOPIC = "t"
PARTITIONS = 3
RECORDS = 3000


class Outcomes:
    """What the callbacks were told."""

    def __init__(self) -> None:
        self.calls: Counter[int] = Counter()
        self.places: dict[int, tuple[int, int]] = {}
        self.errors: dict[int, Exception] = {}

    def of(self, number: int, metadata: RecordMetadata | None, error: Exception | None) -> None:
        self.calls[number] += 1
        if error is not None:
            self.errors[number] = error
        else:
            assert metadata is not None
            self.places[number] = metadata.partition, metadata.offset


def one_fault(cluster: Cluster, rng: random.Random) -> None:
    match rng.randrange(6):
        case 0:
            cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()
        case 1:
            cluster.disconnect_all()
        case 2:
            cluster.inject("Produce").drop_answer().once()
        case 3:
            cluster.inject("Produce").drop_request().once()
        case 4:
            cluster.inject("Produce").cut_answer(rng.randrange(20)).once()
        case 5:
            cluster.inject("Produce").delay(rng.choice([20, 700])).once()


@contextmanager
def faults(cluster: Cluster, rng: random.Random) -> Iterator[None]:
    stop = threading.Event()

    def go_on() -> None:
        while not stop.wait(rng.random() * 0.3):
            one_fault(cluster, rng)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        cluster.reset()


def produce_under_faults(cluster: Cluster, seed: int, **config: object) -> Outcomes:
    outcomes, rng = Outcomes(), random.Random(seed)
    configs: dict[str, object] = {
        "bootstrap.servers": cluster.bootstrap_servers, "batch.size": 400, "linger.ms": 1, "retry.backoff.ms": 10,
        "request.timeout.ms": 500, "delivery.timeout.ms": 60_000, "buffer.memory": 20_000,
    }  # fmt: skip
    with KafkaProducer(configs | {key.replace("_", "."): value for key, value in config.items()}) as producer:
        with faults(cluster, rng):
            for number in range(RECORDS):
                record = ProducerRecord(TOPIC, b"%06d" % number, partition=number % PARTITIONS)
                producer.send(record, lambda metadata, error, number=number: outcomes.of(number, metadata, error))
                if number % 3 == 0:
                    threading.Event().wait(0.003)
        assert producer.flush(60_000)
    return outcomes


def check_what_was_acknowledged(cluster: Cluster, outcomes: Outcomes) -> dict[int, list[int]]:
    """Every callback once, every record where its callback said; returns the numbers of each partition."""
    assert len(outcomes.calls) == RECORDS
    assert set(outcomes.calls.values()) == {1}
    numbers: dict[int, list[int]] = {partition: [] for partition in range(PARTITIONS)}
    found = {}
    for record in cluster.records(TOPIC):
        assert record.value is not None
        found[record.partition, record.offset] = int(record.value)
        numbers[record.partition].append(int(record.value))
    assert all(found[place] == number for number, place in outcomes.places.items())
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_idempotence_nothing_is_lost_nothing_twice_and_all_in_order(seed: int) -> None:
    with Cluster() as cluster:
        cluster.create_topic(TOPIC, partitions=PARTITIONS)
        outcomes = produce_under_faults(cluster, seed, enable_idempotence=True)
        numbers = check_what_was_acknowledged(cluster, outcomes)
        assert outcomes.errors == {}
        assert numbers == {partition: list(range(partition, RECORDS, PARTITIONS)) for partition in range(PARTITIONS)}


@pytest.mark.slow
def test_without_idempotence_nothing_is_lost() -> None:
    with Cluster() as cluster:
        cluster.create_topic(TOPIC, partitions=PARTITIONS)
        outcomes = produce_under_faults(cluster, 4, enable_idempotence=False)
        numbers = check_what_was_acknowledged(cluster, outcomes)
        assert outcomes.errors == {}
        for partition in range(PARTITIONS):
            assert set(numbers[partition]) == set(range(partition, RECORDS, PARTITIONS))
