"""The four-letter words: commands that query a server's state with nothing but ``nc``.

ZooKeeper 3.8: zookeeper-server/.../server/command/ · book 7.1.3
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from kafka_lite import __version__
from kafka_lite.zookeeper.embedded.server_cnxn import ServerCnxn
from kafka_lite.zookeeper.embedded.zookeeper_server import ZooKeeperServer

ZOOKEEPER_VERSION = f"3.8.0-kafka_lite-{__version__}"
"""The release whose protocol and responses this server implements."""


class FourLetterWords:
    """Responds in ZooKeeper's own format, which monitoring tools parse."""

    def __init__(self, server: ZooKeeperServer, config: Mapping[str, object]) -> None:
        """``config`` is the output of ``conf``, under ZooKeeper's names."""
        self._server = server
        self._config = config
        self._connections: Collection[ServerCnxn] = ()
        self._commands: dict[str, Callable[[], str]] = {
            "conf": self._conf,
            "cons": self._cons,
            "crst": self._crst,
            "dirs": self._dirs,
            "dump": self._dump,
            "envi": self._envi,
            "isro": lambda: "rw",
            "mntr": self._mntr,
            "ruok": lambda: "imok",
            "srst": self._srst,
            "srvr": self._srvr,
            "stat": self._stat,
            "wchc": self._wchc,
            "wchp": self._wchp,
            "wchs": self._wchs,
        }

    def is_known(self, word: str) -> bool:
        """Whether ``word`` is a known command."""
        return word in self._commands

    def response_to(self, word: str, connections: Collection[ServerCnxn]) -> str:
        """The text to send before the connection is closed."""
        self._connections = connections
        return self._commands[word]()

    def _conf(self) -> str:
        return _lines(f"{key}={value}" for key, value in self._config.items())

    def _envi(self) -> str:
        # Imported on demand, so that servers start faster.
        import getpass
        import platform

        values = {
            "zookeeper.version": f"{ZOOKEEPER_VERSION}, built on 1970-01-01 00:00 UTC",
            "host.name": socket.gethostname(),
            "python.version": platform.python_version(),
            "python.implementation": platform.python_implementation(),
            "os.name": platform.system(),
            "os.arch": platform.machine(),
            "os.version": platform.release(),
            "user.name": getpass.getuser(),
            "user.home": str(Path.home()),
            "user.dir": str(Path.cwd()),
        }
        return "Environment:\n" + _lines(f"{key}={value}" for key, value in values.items())

    def _version_line(self) -> str:
        return f"Zookeeper version: {ZOOKEEPER_VERSION}, built on 1970-01-01 00:00 UTC\n"

    def _stat(self) -> str:
        clients = _lines(f" {self._brief(connection)}" for connection in self._connections)
        return f"{self._version_line()}Clients:\n{clients}\n{self._status()}"

    def _srvr(self) -> str:
        return self._version_line() + self._status()

    def _status(self) -> str:
        stats = self._server.stats
        latencies = f"{stats.min_latency_ms:.0f}/{stats.avg_latency_ms:.4f}/{stats.max_latency_ms:.0f}"
        return _lines(
            [
                f"Latency min/avg/max: {latencies}",
                f"Received: {stats.packets_received}",
                f"Sent: {stats.packets_sent}",
                f"Connections: {len(self._connections)}",
                "Outstanding: 0",
                f"Zxid: {self._server.database.last_zxid:#x}",
                "Mode: standalone",
                f"Node count: {len(self._server.database.tree.nodes)}",
            ]
        )

    def _brief(self, connection: ServerCnxn) -> str:
        counts = f"queued=0,recved={connection.packets_received},sent={connection.packets_sent}"
        return f"{connection}[{int(connection.is_initialized)}]({counts})"

    def _cons(self) -> str:
        return _lines(f" {self._full(connection)}" for connection in self._connections) + "\n"

    def _full(self, connection: ServerCnxn) -> str:
        tracker = self._server.session_tracker
        if not tracker.is_tracking(connection.session_id):
            return self._brief(connection)
        timeout_ms = tracker.timeout_ms(connection.session_id)
        return f"{self._brief(connection)[:-1]},sid={connection.session_id:#x},to={timeout_ms})"

    def _crst(self) -> str:
        for connection in self._connections:
            connection.reset_stats()
        return "Connection stats reset.\n"

    def _srst(self) -> str:
        self._server.stats.reset()
        return "Server stats reset.\n"

    def _dirs(self) -> str:
        files = list(self._server.database.directory.iterdir())
        snapshots = sum(_size(path) for path in files if path.name.startswith("snapshot."))
        logs = sum(_size(path) for path in files if path.name.startswith("log."))
        return f"datadir_size: {snapshots}\nlogdir_size: {logs}\n"

    def _dump(self) -> str:
        sets = self._server.session_tracker.session_sets()
        owners = self._server.database.tree.sessions_with_ephemerals()
        lines = ["SessionTracker dump:", f"Session Sets ({len(sets)})/({sum(map(len, sets.values()))}):"]
        for due_ms, ids in sets.items():
            lines += [f"{len(ids)} expire in {due_ms:.0f} ms:", *(f"\t{session_id:#x}" for session_id in ids)]
        lines += ["ephemeral nodes dump:", f"Sessions with Ephemerals ({len(owners)}):"]
        for session_id, paths in owners.items():
            lines += [f"{session_id:#x}:", *(f"\t{path}" for path in paths)]
        return _lines([*lines, "Connections dump:", f"Connections ({len(self._connections)})"])

    def _mntr(self) -> str:
        stats, tree = self._server.stats, self._server.database.tree
        values = {
            "version": f"{ZOOKEEPER_VERSION}, built on 1970-01-01 00:00 UTC",
            "server_state": "standalone",
            "avg_latency": f"{stats.avg_latency_ms:.4f}",
            "max_latency": f"{stats.max_latency_ms:.0f}",
            "min_latency": f"{stats.min_latency_ms:.0f}",
            "packets_received": stats.packets_received,
            "packets_sent": stats.packets_sent,
            "num_alive_connections": len(self._connections),
            "outstanding_requests": 0,
            "znode_count": len(tree.nodes),
            "watch_count": tree.data_watches.size + tree.child_watches.size,
            "ephemerals_count": sum(map(len, tree.sessions_with_ephemerals().values())),
            "approximate_data_size": sum(len(path) + len(node.data or b"") for path, node in tree.nodes.items()),
            "open_file_descriptor_count": len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else -1,
        }
        return _lines(f"zk_{key}\t{value}" for key, value in values.items())

    def _wchs(self) -> str:
        watchers = self._watched_paths()
        paths = {path for watched in watchers.values() for path in watched}
        total = sum(map(len, watchers.values()))
        return f"{len(watchers)} connections watching {len(paths)} paths\nTotal watches:{total}\n"

    def _wchc(self) -> str:
        blocks = (
            _lines([f"{session_id:#x}", *(f"\t{path}" for path in sorted(paths))])
            for session_id, paths in self._watched_paths().items()
        )
        return "".join(blocks) + "\n"

    def _wchp(self) -> str:
        sessions: dict[str, list[int]] = {}
        for session_id, paths in self._watched_paths().items():
            for path in paths:
                sessions.setdefault(path, []).append(session_id)
        blocks = (_lines([path, *(f"\t{who:#x}" for who in sorted(sessions[path]))]) for path in sorted(sessions))
        return "".join(blocks) + "\n"

    def _watched_paths(self) -> dict[int, set[str]]:
        """Session → all paths that it watches, for data or children."""
        watched: dict[int, set[str]] = {}
        for manager in (self._server.database.tree.data_watches, self._server.database.tree.child_watches):
            for watcher, paths in manager.by_watcher().items():
                if isinstance(watcher, ServerCnxn):
                    watched.setdefault(watcher.session_id, set()).update(paths)
        return watched


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        # Purged in the meantime.
        return 0
