"""Code shared by all measured Python clients; each runs in its own process, so this module imports little."""

from __future__ import annotations

import json
import resource
import time
from dataclasses import dataclass
from pathlib import Path

KAFKA_LITE, KAFKA_PYTHON, AIOKAFKA, CONFLUENT = "kafka_lite", "kafka-python", "aiokafka", "confluent-kafka"


@dataclass(frozen=True)
class Measured:
    """The measured times."""

    seconds: float
    cpu_seconds: float


class Stopwatch:
    """Measures wall clock and processor time of this process, starting when created."""

    def __init__(self) -> None:
        self._began, self._cpu_began = time.perf_counter(), time.process_time()

    def read(self) -> Measured:
        """The times since creation."""
        return Measured(time.perf_counter() - self._began, time.process_time() - self._cpu_began)


def resident_peak_bytes() -> int:
    """Peak resident memory, from /proc if possible: getrusage includes the parent's memory before the exec."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def tell(measured: Measured, **more: object) -> None:
    """Print the result as JSON for the parent process: seconds, processor time, peak memory, and ``more``."""
    said = {"s": measured.seconds, "cpu_s": measured.cpu_seconds, "peak_bytes": resident_peak_bytes()}
    print(json.dumps(said | more))
