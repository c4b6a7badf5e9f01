"""The real broker, in a process of its own, with a learner's modules in it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

from kafka_lite.learn import overlay

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 15.0
_POLL_S = 0.05


class BrokerDiedError(AssertionError):
    """The broker ended, or did not get ready in time; the message has the end of its log."""


class LabBroker:
    """``kafka-lite server-start`` on a free port over ``folder``, to be stopped, killed and started again."""

    def __init__(self, folder: Path, files: dict[str, Path], overrides: dict[str, str]) -> None:
        self._folder = folder
        self._files = files
        self._log = folder / "broker.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._port = _free_port()
        self._overrides = {
            "listeners": f"PLAINTEXT://127.0.0.1:{self._port}",
            "log.dirs": str(folder / "data"),
            **overrides,
        }

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect."""
        return f"127.0.0.1:{self._port}"

    @property
    def log_dir(self) -> Path:
        """Where the partitions' folders lie."""
        return Path(self._overrides["log.dirs"])

    def start(self) -> None:
        """Start the broker and wait until it takes connections; BrokerDiedError when it does not."""
        overrides = [word for key, value in self._overrides.items() for word in ("--override", f"{key}={value}")]
        # In this process's group on purpose: whoever ends the check with all its processes ends the broker too.
        with open(self._log, "ab") as log:
            command = overlay.command(self._files, "kafka_lite.tools.main", "server-start", *overrides)
            self._process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._takes_connections():
            if self._process.poll() is not None:
                raise BrokerDiedError(f"the broker did not start:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                self.kill()
                raise BrokerDiedError(f"the broker was not ready after {START_TIMEOUT_S:.0f} s:\n{self.log_tail()}")
            time.sleep(_POLL_S)

    def stop(self) -> int:
        """Stop the broker as an operator would (SIGTERM); its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise BrokerDiedError(f"the broker did not stop within {STOP_TIMEOUT_S:.0f} s") from None

    def kill(self) -> None:
        """End the broker as a power cut would (SIGKILL)."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def log_tail(self, lines: int = 12) -> str:
        """The end of the broker's log; of a traceback, what matters."""
        text = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        return os.linesep.join(re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()[-lines:])

    def _takes_connections(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=1):
                return True
        except OSError:
            return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
