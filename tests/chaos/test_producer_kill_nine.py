"""kill -9 of the broker while all our producers send to it: each keeps its guarantees."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.old_producer.default_event_handler import FailedToSendMessageError
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster
from tests.support.cluster_process import ClusterProcess
from tests.support.patience import patient_s
from tests.support.producers import MemoryWatch, Outcomes, is_in_order

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

KILLS = int(os.environ.get("KAFKA_LITE_PRODUCER_KILLS", "3"))
PARTITIONS = 3
PACE_S = 0.002
UP_S = 0.8
"""How long the broker lives between two kills."""

NEW: Mapping[str, Mapping[str, object]] = {
    "idempotent": {"enable.idempotence": True},
    "one-in-flight": {"enable.idempotence": False, "max.in.flight.requests.per.connection": 1},
    "plain": {"enable.idempotence": False},
}
OLD: Mapping[str, Mapping[str, object]] = {
    "old-sync": {"producer.type": "sync", "message.send.max.retries": 2},
    "old-async": {"producer.type": "async", "message.send.max.retries": 2000, "batch.num.messages": 20},
}


@dataclass
class Load:
    """The records of one producer, and their outcomes."""

    sent: int = 0
    outcomes: Outcomes = field(default_factory=Outcomes)
    memory: MemoryWatch | None = None
    failures: int = 0


@dataclass(frozen=True)
class Aftermath:
    """For each producer, its outcomes, and the numbers in each partition of its topic."""

    loads: Mapping[str, Load]
    numbers: Mapping[str, list[list[int]]]
    places: Mapping[str, Mapping[tuple[int, int], int]]


def send_by_new_producer(bootstrap: str, name: str, load: Load, stop: threading.Event) -> None:
    config = {
        "bootstrap.servers": bootstrap, "batch.size": 500, "linger.ms": 1, "retry.backoff.ms": 20,
        "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200, "request.timeout.ms": 5000,
        "delivery.timeout.ms": 120_000, "buffer.memory": 20_000,
    }  # fmt: skip
    with KafkaProducer({**config, **NEW[name]}) as producer:
        load.memory = MemoryWatch(producer)
        while not stop.is_set():
            record = ProducerRecord(name, b"%06d" % load.sent, partition=load.sent % PARTITIONS)
            producer.send(record, load.outcomes.callback(load.sent))
            load.sent += 1
            time.sleep(PACE_S)
        assert producer.flush(1000 * patient_s(60))


def send_by_old_producer(bootstrap: str, name: str, load: Load, stop: threading.Event) -> None:
    config = {
        "metadata.broker.list": bootstrap, "request.required.acks": -1, "request.timeout.ms": 5000,
        "retry.backoff.ms": 20, "queue.buffering.max.ms": 20,
    }  # fmt: skip
    with Producer({**config, **OLD[name]}) as producer:
        while not stop.is_set():
            message = KeyedMessage(name, b"%06d" % load.sent, part_key=load.sent)
            try:
                producer.send(message)
            except FailedToSendMessageError:
                load.failures += 1
                continue  # unknown whether it was sent: send it again
            load.sent += 1
            time.sleep(PACE_S)


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    folder: Path = tmp_path_factory.mktemp("killed")
    loads = {name: Load() for name in (*NEW, *OLD)}
    stop = threading.Event()
    broker = ClusterProcess(folder, {"num.partitions": str(PARTITIONS), "log.segment.bytes": "100000"})
    with broker:
        threads = [
            threading.Thread(target=_sender_of(name), args=(broker.bootstrap_servers, name, load, stop), name=name)
            for name, load in loads.items()
        ]
        for thread in threads:
            thread.start()
        for _ in range(KILLS):
            time.sleep(UP_S)
            broker.kill()
            broker.start()
        time.sleep(UP_S)
        stop.set()
        for thread in threads:
            thread.join(patient_s(120))
            assert not thread.is_alive(), thread.name
    with Cluster({"num.partitions": PARTITIONS}, data_dir=folder / "data") as cluster:
        numbers, places = {}, {}
        for name in loads:
            records = cluster.records(name)
            places[name] = {(record.partition, record.offset): int(record.value or b"") for record in records}
            numbers[name] = [
                [int(record.value or b"") for record in records if record.partition == partition]
                for partition in range(PARTITIONS)
            ]
    return Aftermath(loads, numbers, places)


def _sender_of(name: str) -> Callable[[str, str, Load, threading.Event], None]:
    return send_by_new_producer if name in NEW else send_by_old_producer


@pytest.mark.soak
@pytest.mark.parametrize("name", NEW)
def test_every_callback_is_called_once_with_the_right_offset(aftermath: Aftermath, name: str) -> None:
    load = aftermath.loads[name]
    assert load.sent > 20
    load.outcomes.check_each_was_called_once(load.sent)
    assert load.outcomes.errors == {}
    found = aftermath.places[name]
    assert all(found[place] == number for number, place in load.outcomes.places.items())


@pytest.mark.parametrize("name", NEW)
def test_memory_stays_within_its_limit_and_is_released(aftermath: Aftermath, name: str) -> None:
    memory = aftermath.loads[name].memory
    assert memory is not None
    memory.check_all_came_back()


def test_with_idempotence_everything_is_there_once_and_in_order(aftermath: Aftermath) -> None:
    sent = aftermath.loads["idempotent"].sent
    assert aftermath.numbers["idempotent"] == [list(range(each, sent, PARTITIONS)) for each in range(PARTITIONS)]


@pytest.mark.parametrize("name", ["one-in-flight", "plain", "old-sync", "old-async"])
def test_everything_is_there_at_least_once(aftermath: Aftermath, name: str) -> None:
    sent = aftermath.loads[name].sent
    assert sent > 20
    for partition, numbers in enumerate(aftermath.numbers[name]):
        assert set(numbers) >= set(range(partition, sent, PARTITIONS))
        assert max(numbers) <= sent, "the last message may have been sent and not acknowledged"


@pytest.mark.parametrize("name", ["one-in-flight", "old-sync", "old-async"])
def test_one_request_at_a_time_keeps_the_order(aftermath: Aftermath, name: str) -> None:
    assert all(is_in_order(numbers) for numbers in aftermath.numbers[name])


def test_a_synchronous_old_producer_reports_failures(aftermath: Aftermath) -> None:
    assert aftermath.loads["old-sync"].failures > 0
