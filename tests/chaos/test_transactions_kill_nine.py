"""kill -9 of the broker during transactions: each is seen as a whole, once, or not at all, as its producer was told."""

from __future__ import annotations

import os
import random
import threading
from enum import Enum
from pathlib import Path

import confluent_kafka
import pytest
from confluent_kafka import Producer

from tests.support.cluster_process import ClusterProcess, free_port
from tests.support.eventually import eventually
from tests.support.real_kafka import create_topics
from tests.support.transactional_producers import PARTITIONS, read_with_librdkafka

KILLS = int(os.environ.get("KAFKA_LITE_TRANSACTION_KILLS", "2"))
TRANSACTIONS_BETWEEN_KILLS = 5
TOPIC, TIMEOUT_S = "transfers", 60
SETTINGS = {
    "transaction.state.log.num.partitions": "3",
    "zookeeper.session.timeout.ms": "40000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}


class Outcome(Enum):
    """The outcome of a transaction, as far as its producer knows."""

    COMMITTED, ABORTED, UNKNOWN = range(3)


class TransactionalWriter(threading.Thread):
    """Writes one record to each partition in each transaction, and aborts some; starts anew after each fatal error."""

    def __init__(self, bootstrap_servers: str, seed: int) -> None:
        super().__init__(name=f"writer-{seed}", daemon=True)
        self._bootstrap_servers = bootstrap_servers
        self._random = random.Random(seed)
        self._id = f"writer-{seed}"
        self.outcomes: dict[str, Outcome] = {}
        self.stopping = threading.Event()

    def run(self) -> None:
        producer = self._new_producer()
        while not self.stopping.is_set():
            name = f"{self._id}-{len(self.outcomes)}"
            self.outcomes[name] = Outcome.UNKNOWN
            try:
                self.outcomes[name] = self._write(producer, name)
            except confluent_kafka.KafkaException:
                producer = self._new_producer()  # it ends what the one before has left open

    def _new_producer(self) -> Producer:
        while True:
            producer = Producer(
                {
                    "bootstrap.servers": self._bootstrap_servers,
                    "transactional.id": self._id,
                    "transaction.timeout.ms": 30_000,
                    "linger.ms": 0,
                    "log_level": 0,
                }
            )
            try:
                producer.init_transactions(TIMEOUT_S)
            except confluent_kafka.KafkaException:
                continue
            return producer

    def _write(self, producer: Producer, name: str) -> Outcome:
        producer.begin_transaction()
        for partition in range(PARTITIONS):
            producer.produce(TOPIC, name, partition=partition)
        if self._random.random() < 0.3:
            producer.flush(TIMEOUT_S)
            producer.abort_transaction(TIMEOUT_S)
            return Outcome.ABORTED
        producer.commit_transaction(TIMEOUT_S)
        return Outcome.COMMITTED


@pytest.mark.soak
@pytest.mark.timeout(240)
def test_transactions_are_whole_and_written_once_whenever_the_broker_is_killed(tmp_path: Path) -> None:
    port = free_port()
    settings = SETTINGS | {"listeners": f"PLAINTEXT://127.0.0.1:{port}"}
    bootstrap_servers = f"127.0.0.1:{port}"
    writers = [TransactionalWriter(bootstrap_servers, seed) for seed in (1, 2)]
    for kill in range(KILLS + 1):
        with ClusterProcess(tmp_path, settings) as broker:
            if kill == 0:
                create_topics(bootstrap_servers, [TOPIC], PARTITIONS, {})
                for writer in writers:
                    writer.start()
            ended = sum(len(writer.outcomes) for writer in writers)
            await_outcomes(writers, ended + TRANSACTIONS_BETWEEN_KILLS)
            if kill < KILLS:
                broker.kill()
                continue
            for writer in writers:
                writer.stopping.set()
            for writer in writers:
                writer.join(TIMEOUT_S)
                assert not writer.is_alive()
            check(bootstrap_servers, writers)


def await_outcomes(writers: list[TransactionalWriter], count: int) -> None:
    eventually(lambda: sum(len(writer.outcomes) for writer in writers) >= count, timeout_s=2 * TIMEOUT_S)


def check(bootstrap_servers: str, writers: list[TransactionalWriter]) -> None:
    outcomes = {name: outcome for writer in writers for name, outcome in writer.outcomes.items()}
    known = {outcome: [n for n, each in outcomes.items() if each is outcome] for outcome in Outcome}
    assert known[Outcome.COMMITTED]

    def copies() -> dict[str, int]:
        seen = [
            value.decode() for value in read_with_librdkafka(bootstrap_servers, TOPIC, "read_committed", PARTITIONS)
        ]
        return {name: seen.count(name) for name in outcomes}

    # The markers of the last transaction may be on their way.
    eventually(lambda: all(copies()[name] == PARTITIONS for name in known[Outcome.COMMITTED]), timeout_s=TIMEOUT_S)
    found = copies()
    assert {name: found[name] for name in known[Outcome.ABORTED]} == dict.fromkeys(known[Outcome.ABORTED], 0)
    assert {found[name] for name in known[Outcome.UNKNOWN]} <= {0, PARTITIONS}
