"""A broker as a process of its own, started the way a user starts it, and certain to be gone afterwards.

Kafka 0.10.2: bin/kafka-server-start.sh · book 1.4.1
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME

HOST = "127.0.0.1"
_START_TIMEOUT_MS = 60_000
_STOP_TIMEOUT_S = 15
_POLL_MS = 50


class BrokerStartError(KafkaError):
    """The broker ended, or did not answer in time; the text has the end of its log."""


class BrokerProcess:
    """``kafka-lite server-start`` with a configuration file and data of its own below ``folder``; a context manager.

    What it prints goes to ``folder/broker.log``. After it has stopped, ``kafka-lite server-start
    folder/server.properties`` brings it back with the same data on the same port.
    """

    def __init__(self, folder: Path, overrides: Mapping[str, str] | None = None) -> None:
        self.port = _free_port()
        self.properties = folder / "server.properties"
        self.log = folder / "broker.log"
        self._process: subprocess.Popen[bytes] | None = None
        settings = {
            "broker.id": "0",
            "listeners": f"PLAINTEXT://{self.bootstrap_servers}",
            "log.dirs": str(folder.resolve() / "kafka-logs"),
            "zookeeper.connect": "embedded",
            "offsets.topic.replication.factor": "1",
            **(overrides or {}),
        }
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect to."""
        return f"{HOST}:{self.port}"

    def __enter__(self) -> BrokerProcess:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it and wait until it listens. Raises ``BrokerStartError``."""
        command = [sys.executable, "-m", "kafka_lite.tools.main", "server-start", str(self.properties)]
        with self.log.open("wb") as log:
            # In a session of its own: Ctrl-C is for us, and we then stop the broker in good order.
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            self._await_listener()
        except BaseException:
            self.stop()
            raise

    def _await_listener(self) -> None:
        assert self._process is not None
        deadline = SYSTEM_TIME.hi_res_ms() + _START_TIMEOUT_MS
        while not _listens(self.port):
            if (code := self._process.poll()) is not None:
                raise BrokerStartError(f"the broker ended with exit code {code}. {self._end_of_log()}")
            if SYSTEM_TIME.hi_res_ms() > deadline:
                raise BrokerStartError(f"the broker does not listen on {self.bootstrap_servers}. {self._end_of_log()}")
            SYSTEM_TIME.sleep(_POLL_MS)

    def _end_of_log(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:]
        return "\n".join([f"The end of {self.log}:", *lines])

    def stop(self) -> None:
        """Ask it to shut down; kill it, and whatever it has started, when it does not."""
        if self._process is None:
            return
        process, self._process = self._process, None
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
