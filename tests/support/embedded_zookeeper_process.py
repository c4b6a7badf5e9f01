"""The embedded ZooKeeper as a process of its own, for tests that stop, kill and restart it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.support.patience import patient_s

START_TIMEOUT_S = 60


class EmbeddedZooKeeperProcess:
    """One data directory and one port, for any number of processes."""

    def __init__(self, data_dir: Path, port: int | None = None, **options: Any) -> None:
        from kafka_lite.server.broker_process import (
            free_port,
        )  # if this file runs as a program, its path is not set yet

        self.data_dir = data_dir
        self.port = port or free_port()
        self._options = options
        self._process: subprocess.Popen[str] | None = None

    @property
    def connect_string(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Return once the server listens."""
        arguments = json.dumps({"data_dir": str(self.data_dir), "port": self.port, **self._options})
        self._process = subprocess.Popen(
            [sys.executable, __file__, arguments], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self._process.wait()} before it listened")
        self.port = int(line)

    def terminate(self) -> int:
        """Send SIGTERM; returns the exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """Send SIGKILL: no code of the process runs any more."""
        return self._end(signal.SIGKILL)

    def _end(self, signal_number: int) -> int:
        if self._process is None:
            return 0
        self._process.send_signal(signal_number)
        code = self._process.wait(patient_s(START_TIMEOUT_S))
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
        return code

    def __enter__(self) -> EmbeddedZooKeeperProcess:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def main() -> None:
    from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper

    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    with EmbeddedZooKeeper(**json.loads(sys.argv[1])) as server:
        print(server.port, flush=True)
        while not stopping.wait(0.5):
            pass  # a signal does not always wake a main thread up: see run_in_foreground


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
