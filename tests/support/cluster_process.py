"""A ``Cluster`` of one in a process of its own, so that its memory can be measured and its log read."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from kafka_lite.server.broker_process import HOST, ServerProcess, free_port

_BROKER = """
import json, logging, resource, signal, sys, threading
from kafka_lite.testing.cluster import Cluster

stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
if int(sys.argv[3]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
with Cluster(json.loads(sys.argv[1]), data_dir=sys.argv[2]):
    sys.stdout.write("started\\n")  # in one piece: the log of other threads goes to the same file
    sys.stdout.flush()
    stop.wait()
"""


class ClusterProcess(ServerProcess):
    """A ``Cluster`` in a process: starts on entry, ends with SIGTERM on exit, and must exit cleanly unless killed.

    ``file_size_limit_bytes``: no file of the broker may grow beyond it, as if the disk were full; 0: no limit.
    """

    def __init__(
        self, data_dir: Path, overrides: dict[str, str] | None = None, *, file_size_limit_bytes: int = 0
    ) -> None:
        # Many tests have records with old timestamps, which would be deleted after 30 s.
        defaults = {"listeners": f"PLAINTEXT://{HOST}:{free_port()}", "log.retention.ms": "-1"}
        settings = {**defaults, **(overrides or {})}
        arguments = [json.dumps(settings), str(data_dir / "data"), str(file_size_limit_bytes)]
        port = int(settings["listeners"].rpartition(":")[2])
        super().__init__([sys.executable, "-c", _BROKER, *arguments], port, data_dir / "broker.log", own_session=False)

    def is_ready(self) -> bool:
        """Whether all of it has started, not only the acceptor."""
        return "started" in self.log().splitlines()

    def __exit__(self, *_: object) -> None:
        code = self.stop()
        assert code != -signal.SIGKILL, f"it did not stop on SIGTERM:\n{self.log()}"
        assert not code, self.log()
