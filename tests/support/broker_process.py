"""A broker in a process of its own, so that its memory can be measured and its log be read."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

_BROKER = """
import json, logging, resource, signal, sys, threading
from kafka_lite.testing.cluster import Cluster

stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
if int(sys.argv[3]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
with Cluster(json.loads(sys.argv[1]), data_dir=sys.argv[2]) as cluster:
    print(cluster.bootstrap_servers, flush=True)
    stop.wait()
"""


class BrokerProcess:
    """Starts on entry, ends with SIGTERM on exit; ``bootstrap_servers`` says where it listens.

    ``file_size_limit_bytes``: no file of the broker may become larger, as if the disk were full; 0: no limit.
    """

    def __init__(
        self, data_dir: Path, overrides: dict[str, str] | None = None, *, file_size_limit_bytes: int = 0
    ) -> None:
        self.log_file = data_dir / "broker.log"
        self._data_dir = data_dir
        self._overrides = overrides or {}
        self._file_size_limit_bytes = file_size_limit_bytes
        self.bootstrap_servers = ""

    def __enter__(self) -> Self:
        with self.log_file.open("w") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-c", _BROKER, json.dumps(self._overrides), str(self._data_dir / "data"),
                    str(self._file_size_limit_bytes),
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        self.bootstrap_servers = self.process.stdout.readline().strip()
        assert self.bootstrap_servers, self.log()
        return self

    def kill(self) -> None:
        """kill -9: nothing is written any more, nobody is told."""
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_: object) -> None:
        killed = self.process.returncode == -signal.SIGKILL
        self.process.terminate()
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            assert self.process.stdout is not None
            self.process.stdout.close()
        assert code == 0 or killed, self.log()

    @property
    def port(self) -> int:
        return int(self.bootstrap_servers.rpartition(":")[2])

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")


def free_port() -> int:
    """A port for a broker that is to come back where it was."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
