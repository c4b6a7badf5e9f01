"""The real broker in its own process, with a learner's modules."""

from __future__ import annotations

from pathlib import Path

from kafka_learn.labs import overlay
from kafka_lite.server.broker_process import BrokerProcess, BrokerStartError


class BrokerDiedError(AssertionError):
    """The broker exited or was not ready in time; the message contains the end of its log."""


class LabBroker(BrokerProcess):
    """``kafka-lite server-start`` on a free port with data in ``folder``; can be stopped, killed and restarted."""

    def __init__(self, folder: Path, files: dict[str, Path], overrides: dict[str, str]) -> None:
        self.folder, self.files = folder, files
        self.log_dir = folder / "data"
        """The folder of the partitions' folders."""
        # In this process's group on purpose: ending the check with all its processes also ends the broker.
        super().__init__(
            folder,
            # The labs' messages have timestamps of 1970, so the first retention check would delete them.
            {"log.dirs": str(self.log_dir), "log.retention.ms": "-1", **overrides},
            start_command=overlay.command(files, "kafka_lite.tools.main", "server-start"),
            own_session=False,
        )

    def start(self) -> float:
        """Start the broker and wait until it accepts connections. Raises BrokerDiedError."""
        try:
            return super().start()
        except BrokerStartError as error:
            raise BrokerDiedError(str(error)) from None

    def log_tail(self, lines: int = 12) -> str:
        """The end of the broker's log."""
        return self.end_of_log(lines)
