"""A server in its own process, started as a user starts it, and guaranteed to be ended afterwards.

Kafka 0.10.2: bin/kafka-server-start.sh, bin/kafka-server-stop.sh · book 1.4.1
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME

HOST = "127.0.0.1"
SERVER_START = (sys.executable, "-m", "kafka_lite.tools.main", "server-start")
"""The command that starts our broker; the properties file follows."""
START_TIMEOUT_MS = 60_000
STOP_TIMEOUT_MS = 30_000
_POLL_MS = 10
PORTS = range(20_000, 32_768)
"""The ports that ``free_port`` chooses from. Systems assign ephemeral ports from 32768 on, some from 49152."""
_port_numbers = itertools.count(7919 * os.getpid())  # a prime: processes with adjacent ids start far apart
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class BrokerStartError(KafkaError):
    """The process ended, or was not ready in time; the message has the end of its log."""


class ServerProcess:
    """A command that listens on one port of the loopback interface; a context manager that starts and stops it.

    Its output goes to ``log_file``, which each start truncates. It may be stopped or killed, and started again. It runs
    in its own session, so that Ctrl-C reaches only us, and we stop it cleanly; with ``own_session=False``, it ends
    together with our process group.
    """

    def __init__(self, command: Sequence[str], port: int, log_file: Path, *, own_session: bool = True) -> None:
        self.command = list(command)
        self.port = port
        self.log_file = log_file
        self._own_session = own_session
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect to."""
        return f"{HOST}:{self.port}"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process. Raises BrokerStartError if it is not running."""
        if self._process is None:
            raise BrokerStartError("the broker is not running")
        return self._process

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended, by itself or by us."""
        return self._process is not None and self._process.poll() is None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> float:
        """Start it and wait until it is ready; returns the time this took in ms. Raises BrokerStartError."""
        began_ms = SYSTEM_TIME.hi_res_ms()
        if not self.is_running:
            self.spawn()
        try:
            self._await_ready(began_ms + START_TIMEOUT_MS)
        except BaseException:
            self.kill()
            raise
        return SYSTEM_TIME.hi_res_ms() - began_ms

    def spawn(self) -> None:
        """Start it without waiting: ``start`` then only waits, so that several can start at a time.

        Raises BrokerStartError if another server has the port: it would be taken for ours.
        """
        if takes_connections(self.port):
            raise BrokerStartError(f"Another server listens on {self.bootstrap_servers}: stop it, or use another port.")
        with self.log_file.open("wb") as log:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=self._own_session,
            )

    def is_ready(self) -> bool:
        """Whether the server accepts connections on its port."""
        return takes_connections(self.port)

    def stop(self) -> int | None:
        """Ask it to shut down, and kill it if it does not. Returns its exit code; None if it was not running."""
        if self._process is None:
            return None
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(STOP_TIMEOUT_MS / 1000)
        except subprocess.TimeoutExpired:
            return self.kill()
        self._process = None
        return code

    def kill(self) -> int | None:
        """Kill it, as a power cut would, with all processes of its session. Returns its exit code."""
        if self._process is None:
            return None
        process, self._process = self._process, None
        if process.poll() is None:
            if self._own_session:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        return process.wait()

    def log(self) -> str:
        """Its output since its last start, without colours."""
        return _COLOURS.sub("", self.log_file.read_text(encoding="utf-8", errors="replace"))

    def end_of_log(self, lines: int = 12) -> str:
        """The last lines of the log."""
        return "\n".join(self.log().splitlines()[-lines:]) if self.log_file.exists() else ""

    def _await_ready(self, deadline_ms: float) -> None:
        while True:
            is_ready = self.is_ready()
            if (code := self.process.poll()) is not None:
                raise BrokerStartError(self._failure(f"ended with exit code {code}"))
            if is_ready:
                return
            if SYSTEM_TIME.hi_res_ms() > deadline_ms:
                raise BrokerStartError(self._failure(f"is not ready on {self.bootstrap_servers}"))
            SYSTEM_TIME.sleep(_POLL_MS)

    def _failure(self, what: str) -> str:
        return f"the broker {what}. The end of {self.log_file}:\n{self.end_of_log()}"


class BrokerProcess(ServerProcess):
    """``kafka-lite server-start`` with its own configuration file and data below ``folder``.

    ``folder/server.properties`` is written at once, with ``overrides`` over the few settings that such a broker needs;
    ``kafka-lite server-start folder/server.properties`` starts it again later with the same data on the same port.
    ``start_command`` may start the broker in another way; it gets that file as its last argument.
    """

    def __init__(
        self,
        folder: Path,
        overrides: Mapping[str, str] | None = None,
        *,
        start_command: Sequence[str] = SERVER_START,
        own_session: bool = True,
    ) -> None:
        port = free_port()
        self.properties = folder / "server.properties"
        settings = {
            "broker.id": "0",
            "listeners": f"PLAINTEXT://{HOST}:{port}",
            "log.dirs": str(folder.resolve() / "kafka-logs"),
            "zookeeper.connect": "embedded",
            "offsets.topic.replication.factor": "1",
            **(overrides or {}),
        }
        port = int(settings["listeners"].rpartition(":")[2])
        write_properties(self.properties, settings)
        super().__init__([*start_command, str(self.properties)], port, folder / "broker.log", own_session=own_session)


def write_properties(path: Path, settings: Mapping[str, str]) -> None:
    """A file that brokers and Kafka's tools read: ``key=value`` lines."""
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")


def free_port() -> int:
    """A free TCP port of the loopback interface, which stays reserved for its server while that is down.

    An ephemeral port could be assigned again before the server listens, or between two of its runs: to another
    listener, or to the client's end of a connection. A client that connects to a server that is down could even connect
    to itself. These ports are below the ephemeral ones, and each process starts at a different one.
    """
    for number in itertools.islice(_port_numbers, len(PORTS)):
        port = PORTS[number % len(PORTS)]
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port
    raise KafkaError(f"All ports from {PORTS.start} to {PORTS.stop - 1} of {HOST} are in use.")


def takes_connections(port: int) -> bool:
    """Whether a server listens on the port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0
