"""The start-up cost of a broker; and many gigabytes through one broker: its memory, and the recovery of the log."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.brokers import Broker, Candidate
from bench.filled_log import FilledLog
from bench.measure import (
    MEGABYTES,
    MEGABYTES_PER_S,
    MESSAGES,
    SECONDS,
    Goal,
    Sample,
    Study,
    cpu_of,
    create_topic,
    expect_end,
    measured,
    value_at_most,
)
from bench.raw_client import RawClient, produce_batch_frame

MESSAGE_BYTES = 1000
BATCH_BYTES = 1_000_000
STEPS = 10
_IN_FLIGHT = 5
_REST_S = 2.0
"""After this time, work left over from the start is done."""
RECOVERY_POINT_TIMEOUT_S = 120.0
RECOVERY_READ = "read, per byte to recover"
"""The bytes to recover are those from the recovery point's segment on."""


def start_up(rounds: int) -> Study:
    """Fresh brokers: the time to the first response, and the memory at rest."""
    workloads = {
        "start to first answer": {SECONDS: value_at_most(0.5)},
        "resident memory, idle": {MEGABYTES: value_at_most(60)},
    }
    return Study("Start", workloads, _start, rounds)


def _start(candidate: Candidate, folder: Path, tell: Callable[[str], None]) -> dict[str, Sample]:
    tell("starting")
    with candidate.make(folder / "broker", {}) as broker:
        started_s = broker.start_ms / 1000
        time.sleep(_REST_S)
        return {
            "start to first answer": {SECONDS: started_s},
            "resident memory, idle": {MEGABYTES: broker.resident_mb()},
        }


@dataclass(frozen=True)
class BigLog:
    """Produce many gigabytes, read them all, kill the broker, restart it."""

    gigabytes: float

    def study(self) -> Study:
        """The study, for the report."""
        return Study("Many gigabytes, and kill -9", self.workloads, self.run)

    @property
    def workloads(self) -> Mapping[str, Mapping[str, Goal]]:
        """The reported workloads and their goals."""
        size = f"{self.gigabytes:g} GB"
        return {
            f"produce {size}": {},
            f"read {size}": {},
            f"resident memory, highest, {size} produced and read": {MEGABYTES: value_at_most(150)},
            "resident memory, growth after the first tenth": {MEGABYTES: value_at_most(15)},
            f"restart after kill -9, {size}": {RECOVERY_READ: value_at_most(1.1)},
        }

    def run(self, candidate: Candidate, folder: Path, tell: Callable[[str], None]) -> dict[str, Sample]:
        """Run the whole life cycle of one broker."""
        log = FilledLog(MESSAGE_BYTES, "none", int(self.gigabytes * 1e9 / MESSAGE_BYTES), BATCH_BYTES)
        broker = candidate.make(folder / "broker", {"log.flush.offset.checkpoint.interval.ms": "1000"})
        with broker:
            name = create_topic(broker)
            resident_mb: list[float] = []
            produced = measured(
                broker, log.messages, lambda: resident_mb.extend(self._produce(broker, log, name, tell))
            )
            read = measured(broker, log.messages, lambda: resident_mb.extend(self._read(broker, log, name, tell)))
            peak_mb = broker.resident_peak_mb()
            tell("waiting for the recovery point")
            await_recovery_point(broker.log_dir, name)
            broker.kill()
            to_recover = bytes_to_recover(broker.log_dir, name)
            tell("recovering")
            restarted_s = broker.start() / 1000
            read_bytes = broker.bytes_read()
            expect_end(broker, name, log.messages)
        shutil.rmtree(folder)
        recovery = {SECONDS: restarted_s}
        if read_bytes is not None:
            recovery |= {MEGABYTES: read_bytes / 1e6, RECOVERY_READ: read_bytes / to_recover}
        samples = [
            rate_in_bytes(produced),
            rate_in_bytes(read),
            {MEGABYTES: peak_mb},
            {MEGABYTES: resident_mb[-1] - resident_mb[0]},
            recovery,
        ]
        return dict(zip(self.workloads, samples, strict=True))

    def _produce(self, broker: Broker, log: FilledLog, name: str, tell: Callable[[str], None]) -> Iterator[float]:
        """Fill the log in steps; yields the resident memory in MB after each."""
        frame = produce_batch_frame(name, log.batch[0])
        with RawClient(broker.port) as client:
            for step, requests in enumerate(in_steps(log.batches)):
                tell(f"producing, {step * 100 // STEPS} %")
                if requests:
                    client.pipelined(frame, requests - 1, _IN_FLIGHT)
                yield broker.resident_mb()

    def _read(self, broker: Broker, log: FilledLog, name: str, tell: Callable[[str], None]) -> Iterator[float]:
        """Fetch the whole log in steps; yields the resident memory in MB after each."""
        frames = iter(log.fetches(name, BATCH_BYTES))
        with RawClient(broker.port) as client:
            for step, requests in enumerate(in_steps(log.batches)):
                tell(f"reading, {step * 100 // STEPS} %")
                for _ in range(requests):
                    client.exchange(next(frames))
                yield broker.resident_mb()


def in_steps(count: int, steps: int = STEPS) -> Sequence[int]:
    """Split a count into nearly equal parts."""
    return [count * (step + 1) // steps - count * step // steps for step in range(steps)]


def rate_in_bytes(sample: Mapping[str, float]) -> Sample:
    """Convert a message rate into MB/s."""
    return {MEGABYTES_PER_S: sample[MESSAGES] * MESSAGE_BYTES / 1e6, **cpu_of(sample)}


def await_recovery_point(log_dir: Path, topic: str) -> None:
    """Wait until the recovery point checkpoint on disk has reached the last segment. Raises RuntimeError.

    Brokers start writing checkpoints half a minute after their start.
    """
    deadline = time.monotonic() + RECOVERY_POINT_TIMEOUT_S
    last_segment = max(segments(log_dir, topic))
    while recovery_point(log_dir, topic) < last_segment:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the recovery point of {log_dir} does not come to {last_segment}")
        time.sleep(0.2)


def bytes_to_recover(log_dir: Path, topic: str) -> int:
    """The bytes in partition 0's segments, from the checkpointed recovery point's segment on."""
    sizes = segments(log_dir, topic)
    first = max(base for base in sizes if base <= recovery_point(log_dir, topic))
    return sum(size for base, size in sizes.items() if base >= first)


def recovery_point(log_dir: Path, topic: str) -> int:
    """The recovery point of partition 0, as a starting broker would read it."""
    checkpoint = log_dir / "recovery-point-offset-checkpoint"
    lines = checkpoint.read_text().splitlines()[2:] if checkpoint.exists() else []
    return next((int(line.split()[2]) for line in lines if line.split()[:2] == [topic, "0"]), 0)


def segments(log_dir: Path, topic: str) -> dict[int, int]:
    """Base offset -> size in bytes of partition 0's segments."""
    return {int(path.stem): path.stat().st_size for path in (log_dir / f"{topic}-0").glob("*.log")}
