"""kill -9 of a broker whose cleaner runs all the time: the newest value of every key survives."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.common.time import MockTime
from kafka_lite.record.record import Record
from tests.support.cluster_process import ClusterProcess, free_port
from tests.support.compaction import all_records
from tests.support.logs import open_log
from tests.support.patience import Patience
from tests.support.patient_clients import answer, flush

KILLS = 6
TOPIC = "compacted"
KEYS = 60
WAIT_S = 60.0
BROKER = {
    "log.cleaner.backoff.ms": "1",
    "log.cleaner.dedupe.buffer.size": "2200000",
    "log.cleaner.threads": "2",
    "log.flush.interval.messages": "1",
    "zookeeper.session.timeout.ms": "40000",
}
TOPIC_CONFIG = {
    "cleanup.policy": "compact",
    "segment.bytes": "8000",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "500",
    "file.delete.delay.ms": "100",
}


class Load:
    """A producer that keeps sending through every restart; its acknowledgements, by partition, key and offset."""

    def __init__(self, bootstrap: str, message_format: str) -> None:
        self.newest: dict[bytes, tuple[int, bytes | None]] = {}
        self.sent = 0
        self._producer = Producer({
            "bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": message_format == "3.0",
            "linger.ms": 1, "compression.type": "lz4", "batch.num.messages": 20, "reconnect.backoff.max.ms": 200,
            "message.timeout.ms": 60_000, "log_level": 0,
        })  # fmt: skip

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        self.newest[message.key()] = max(
            self.newest.get(message.key(), (-1, None)), (message.offset(), message.value()), key=lambda found: found[0]
        )

    def run(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = None if random.random() < 0.1 else b"%08d" % self.sent + b"." * random.randrange(60)
            key = b"key-%d" % random.randrange(KEYS)
            self._producer.produce(TOPIC, value, key, partition=0, on_delivery=self._on_delivery)
            self.sent += 1
            self._producer.poll(0.001)

    def finish(self) -> None:
        flush(self._producer)


def being_replaced(log_folder: Path) -> list[str]:
    """Files of segments that are being replaced."""
    return [path.name for path in log_folder.iterdir() if path.suffix in (".cleaned", ".swap", ".deleted")]


def must_be_whole(records: list[Record], newest: dict[bytes, tuple[int, bytes | None]]) -> None:
    """The last acknowledged value of a key is there, or a newer one that was never acknowledged."""
    offsets = [record.offset for record in records]
    assert offsets == sorted(set(offsets))
    there = {record.key: record for record in records}
    for key, (offset, value) in newest.items():
        record = there.get(key)
        if record is None:
            assert value is None, f"{key!r} has lost its newest value, at offset {offset}"
        else:
            assert record.offset >= offset
            assert record.offset > offset or record.value == value


@pytest.mark.soak
@pytest.mark.parametrize("message_format", ["0.10.2", "3.0"])
def test_kills_during_cleaning_lose_no_newest_value(tmp_path: Path, message_format: str) -> None:
    port = free_port()
    overrides = {
        **BROKER,
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.message.format.version": message_format,
    }
    load = Load(f"127.0.0.1:{port}", message_format)
    log_dir = tmp_path / "data" / "logs"
    log_folder = log_dir / f"{TOPIC}-0"
    interrupted = 0
    for round_number in range(KILLS + 1):
        with ClusterProcess(tmp_path, overrides) as broker:
            if round_number == 0:
                admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
                answer(admin.create_topics([NewTopic(TOPIC, 1, 1, config=TOPIC_CONFIG)])[TOPIC])
            load.run(random.uniform(0.8, 1.6))
            if round_number == KILLS:
                load.finish()
                break
            # At any moment; in every other round while segments are being replaced, which is rarely hit otherwise.
            patience = Patience(WAIT_S)
            while round_number % 2 and not being_replaced(log_folder):
                assert not patience.is_over(), "nothing is being cleaned"
                load.run(0.001)
            broker.kill()
        interrupted += bool(being_replaced(log_folder))
    log = open_log(log_dir, name=f"{TOPIC}-0", time=MockTime(int(time.time() * 1000)), had_clean_shutdown=True)
    records = all_records(log)
    must_be_whole(records, load.newest)
    assert len(records) < load.sent / 2
    assert interrupted, "no kill hit the replacement of segments"
