"""``python -m bench.instructions``: the number of instructions that a request costs the broker and Python.

Times need an otherwise idle machine, and even there they vary from run to run. Instructions are counted by valgrind's
callgrind, with the broker at a fiftieth of its speed, and do not depend on what else the machine does: one run before
and one after a change show what it has saved. They do not include the kernel's work.

``PYTHONPATH=build/compiled PYTHONSAFEPATH=1`` measures the compiled package, whose functions callgrind knows by name:
``callgrind_annotate --inclusive=yes FILE`` shows where the instructions go. Needs Debian's package valgrind.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from rich.console import Console
from rich.table import Table

from bench.filled_log import batch_of_payloads
from bench.group_requests import commit_frame, join
from bench.groups.modern_members import Member
from bench.raw_client import RawClient, fetch_frame, frame_of, many_connections, produce_batch_frame
from bench.raw_workloads import MakeFrame, api_versions, small_produce
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.server.broker_process import HOST, SERVER_START, BrokerProcess

WARM_UP = 300
TIMEOUT_S = 120.0
TOPIC = "counted"
GROUP = "group"
METADATA_VERSION = 9
_SLOW = {
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "zookeeper.session.timeout.ms": "600000",
    "zookeeper.connection.timeout.ms": "600000",
}
_TOTAL = re.compile(r"^totals: (\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Counted:
    """The same request repeatedly, over ``connections`` connections with one in flight on each."""

    name: str
    frame: MakeFrame
    connections: int

    def send(self, port: int, requests: int) -> None:
        """Send ``requests`` requests and receive their responses."""
        frame = self.frame(TOPIC)
        if self.connections > 1:
            many_connections(port, frame, requests, self.connections)
            return
        with RawClient(port) as client:
            client.one_in_flight(frame, requests)


def _produce_16_kb(size: int, codec: str = "none") -> Callable[[str], bytes]:
    return lambda name: produce_batch_frame(name, batch_of_payloads(size, codec)[0])


def _metadata(name: str) -> bytes:
    return frame_of(MetadataRequest(topics=[MetadataRequestTopic(name=name)]), METADATA_VERSION)


WORKLOADS = (
    Counted("ApiVersions, 10 connections", api_versions, 10),
    Counted("produce 100 B, 10 connections", small_produce, 10),
    Counted("produce 16 KB of 100 B", _produce_16_kb(100), 1),
    Counted("produce 16 KB of 100 B, lz4", _produce_16_kb(100, "lz4"), 1),
    Counted("produce 16 KB of 1,000 B", _produce_16_kb(1000), 1),
    Counted("heartbeat of KIP-848, 10 connections", lambda name: Member(name, "only", 1).heartbeat(), 10),
    Counted("commit one offset", lambda name: commit_frame(name, GROUP), 1),
    Counted("metadata of one topic, 10 connections", _metadata, 10),
    Counted("fetch 16 KB", lambda name: fetch_frame(name, 16 * 1024), 1),
)


def instructions_of(workload: Counted, requests: int, kept: Path) -> float:
    """Instructions per request; callgrind's output is kept in the file ``kept``. Raises BrokerStartError."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "callgrind.out"
        valgrind = ("valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={written}")
        with BrokerProcess(Path(folder), _SLOW, start_command=(*valgrind, *SERVER_START)) as broker:
            prepare(broker)
            workload.send(broker.port, WARM_UP)
            with counting(broker.process.pid):
                workload.send(broker.port, requests)
            shutil.copy(f"{written}.1", kept)  # .1 is the requested dump, not the final one
    total = _TOTAL.search(kept.read_text())
    assert total is not None
    return int(total[1]) / requests


def prepare(broker: BrokerProcess) -> None:
    """Create a topic with records and make sure that the coordinator is available."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "socket.timeout.ms": int(TIMEOUT_S * 1000)})
    admin.create_topics([NewTopic(TOPIC, 1, 1)], request_timeout=TIMEOUT_S)[TOPIC].result(TIMEOUT_S)
    with RawClient(broker.port) as client:
        client.one_in_flight(_produce_16_kb(100)(TOPIC), 4)
    with BlockingChannel(HOST, broker.port) as channel:
        join(channel, f"{GROUP}-with-a-member")
        Member(TOPIC, "only").join(channel, TOPIC)


@contextmanager
def counting(pid: int) -> Iterator[None]:
    """Count the instructions of a process under callgrind during the block, then dump the counts."""
    _control("--instr=on", pid)
    yield
    _control("--instr=off", pid)
    _control("--dump", pid)


def _control(command: str, pid: int) -> None:
    subprocess.run(["callgrind_control", command, str(pid)], check=True, capture_output=True, timeout=TIMEOUT_S)


def main() -> int:
    """Count the instructions of the chosen workloads and print a table; returns 2 without valgrind."""
    parser = argparse.ArgumentParser(prog="python -m bench.instructions", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="run only workloads whose name contains this")
    parser.add_argument("--requests", type=int, default=1500, help="requests per workload (default: 1500)")
    parser.add_argument(
        "--output", type=Path, default=Path("."), help="folder for callgrind's files (default: the current folder)"
    )
    options = parser.parse_args()
    console = Console()
    if shutil.which("callgrind_control") is None:
        console.print("This needs valgrind: apt install valgrind")
        return 2
    table = Table(title="instructions per request")
    table.add_column("")
    table.add_column("thousand", justify="right")
    table.add_column("for callgrind_annotate")
    for number, workload in enumerate(WORKLOADS):
        if options.only in workload.name:
            kept = options.output / f"callgrind.out.{number}"
            count = instructions_of(workload, options.requests, kept)
            table.add_row(workload.name, f"{count / 1000:,.1f}", str(kept))
    console.print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
