"""Several brokers on this machine, each in its own process, and a ZooKeeper for them.

Kafka has no such tool; the book copies server.properties for each broker · book 1.4.2
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.server.broker_process import HOST, SERVER_START, BrokerProcess, ServerProcess, takes_connections
from kafka_lite.tools.server.running_brokers import RunningBroker, RunningBrokers

ZOOKEEPER_START = (sys.executable, "-m", "kafka_lite.tools.main", "zookeeper-server-start")
PID_FILE = "pid"
MAX_REPLICAS = 3
STOP_TIMEOUT_MS = 30_000
_POLL_MS = 20


class LocalCluster:
    """The processes of one cluster, with all of their files below one folder::

        folder/zookeeper/             ZooKeeper's data, and zookeeper.log
        folder/broker-0/              server.properties, kafka-logs/, broker.log, pid
        folder/broker-1/ …

    ZooKeeper has a process of its own, so that any one broker may be killed. A broker that ended is not started again:
    ``kafka-lite server-start folder/broker-1/server.properties`` does that.
    """

    def __init__(
        self,
        folder: Path,
        brokers: int,
        first_port: int,
        zookeeper_port: int,
        overrides: Mapping[str, str],
        start_command: Sequence[str] = SERVER_START,
    ) -> None:
        """Broker i listens on ``first_port + i``. ``overrides`` are keys of every broker's server.properties.

        ``start_command``: what starts a broker; its properties file follows.
        """
        self.folder = folder.resolve()
        self.ports = [first_port + number for number in range(brokers)]
        self.zookeeper_port = zookeeper_port
        self._overrides = dict(overrides)
        self.start_command = start_command
        self.brokers: dict[int, BrokerProcess] = {}
        self._zookeeper: ServerProcess | None = None
        self._reported: set[int] = set()

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all brokers."""
        return ",".join(f"{HOST}:{port}" for port in self.ports)

    @property
    def zookeeper_connect(self) -> str:
        """ZooKeeper's address."""
        return f"{HOST}:{self.zookeeper_port}"

    def broker_folder(self, broker_id: int) -> Path:
        """The files of a broker."""
        return self.folder / f"broker-{broker_id}"

    # ── start ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start ZooKeeper, then the brokers, one after the other.

        Raises KafkaError if a port is in use or a process does not become ready; what has been started runs on until
        ``stop``.
        """
        if self.zookeeper_port in self.ports:
            raise KafkaError(f"Port {self.zookeeper_port} cannot be both ZooKeeper's and a broker's.")
        for port in (self.zookeeper_port, *self.ports):
            if takes_connections(port):
                raise KafkaError(
                    f"Port {port} of {HOST} is in use. Choose others with --port and --zookeeper-port, or stop what "
                    "listens there: `kafka-lite server-stop` stops your brokers."
                )
        for left_over in self.folder.glob(f"broker-*/{PID_FILE}"):  # of a cluster that was killed
            left_over.unlink()
        self._start_zookeeper()
        for broker_id, port in enumerate(self.ports):
            self._start_broker(broker_id, port)

    def _start_zookeeper(self) -> None:
        folder = self.folder / "zookeeper"
        folder.mkdir(parents=True, exist_ok=True)
        settings = {"dataDir": str(folder), "clientPort": str(self.zookeeper_port)}
        arguments = [part for key, value in settings.items() for part in ("--override", f"{key}={value}")]
        self._zookeeper = ServerProcess([*ZOOKEEPER_START, *arguments], self.zookeeper_port, folder / "zookeeper.log")
        self._zookeeper.start()

    def _start_broker(self, broker_id: int, port: int) -> None:
        folder = self.broker_folder(broker_id)
        folder.mkdir(parents=True, exist_ok=True)
        broker = BrokerProcess(
            folder, self._settings(broker_id, port) | self._overrides, start_command=self.start_command
        )
        self.brokers[broker_id] = broker
        broker.start()
        self._write_pid(broker_id, broker.process.pid)

    def _settings(self, broker_id: int, port: int) -> dict[str, str]:
        replicas = str(min(MAX_REPLICAS, len(self.ports)))
        return {
            "broker.id": str(broker_id),
            "listeners": f"PLAINTEXT://{HOST}:{port}",
            "zookeeper.connect": self.zookeeper_connect,
            "default.replication.factor": replicas,
            "offsets.topic.replication.factor": replicas,
        }

    # ── while it runs ─────────────────────────────────────────────────────────────────────────────────────────────

    def watch(self, on_end: Callable[[int, int | None], None]) -> None:
        """Call ``on_end`` with each broker that has ended since the last call, and its exit code.

        Keeps the pid files correct, including those of brokers that were restarted by hand. Raises KafkaError if
        ZooKeeper has ended.
        """
        if self._zookeeper is not None and not self._zookeeper.is_running:
            raise KafkaError(f"ZooKeeper has ended. The end of its log:\n{self._zookeeper.end_of_log()}")
        for broker_id, broker in self.brokers.items():
            if broker_id not in self._reported and not broker.is_running:
                self._reported.add(broker_id)
                on_end(broker_id, broker.process.returncode)
        running = self._running_pids()
        for broker_id in self.brokers:
            self._write_pid(broker_id, running.get(broker_id))

    def _running_pids(self) -> dict[int, int]:
        """The process ids of all running brokers, including those that were started by hand."""
        pids = {broker_id: broker.process.pid for broker_id, broker in self.brokers.items() if broker.is_running}
        for broker_id in self.brokers:
            for found in _brokers_below(self.broker_folder(broker_id)):
                pids[broker_id] = found.pid
        return pids

    def _write_pid(self, broker_id: int, pid: int | None) -> None:
        """Let the broker's pid file name this process; None removes it."""
        file = self.broker_folder(broker_id) / PID_FILE
        if pid is None:
            file.unlink(missing_ok=True)
        elif not file.exists() or file.read_text(encoding="utf-8").strip() != str(pid):
            unfinished = file.with_suffix(".new")  # a reader must never find an empty file
            unfinished.write_text(f"{pid}\n", encoding="utf-8")
            unfinished.replace(file)

    # ── stop ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def stop(self) -> None:
        """Stop all brokers cleanly, including those that were restarted by hand, and then ZooKeeper."""
        for broker in self.brokers.values():
            broker.stop()
        self._stop_others()
        for broker_id in self.brokers:
            self._write_pid(broker_id, None)
        if self._zookeeper is not None:
            self._zookeeper.stop()

    def _stop_others(self) -> None:
        """Stop brokers of this folder that we did not start: without ZooKeeper they could not even stop."""
        ours = _brokers_below(self.folder)
        for broker in ours:
            with contextlib.suppress(ProcessLookupError):
                broker.stop()
        deadline_ms = SYSTEM_TIME.hi_res_ms() + STOP_TIMEOUT_MS
        while any(broker.is_running() for broker in ours) and SYSTEM_TIME.hi_res_ms() < deadline_ms:
            SYSTEM_TIME.sleep(_POLL_MS)


def _brokers_below(folder: Path) -> list[RunningBroker]:
    """The running brokers of this user whose data is below a folder."""
    return [
        broker
        for broker in RunningBrokers().find()
        if any(Path(each).is_relative_to(folder) for each in broker.facts.get("log.dirs", "").split(",") if each)
    ]
