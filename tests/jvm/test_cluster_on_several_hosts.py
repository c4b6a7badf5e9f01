"""Three hosts, as network namespaces, each with one of our brokers and one server of a real ZooKeeper ensemble.

The configuration is that of the page ``docs/cluster.md``; only names, directories and time-outs are others.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import SERVER_START, ServerProcess
from tests.support.eventually import eventually
from tests.support.hosts import Hosts, require_hosts
from tests.support.patience import patient_s
from tests.support.real_zookeeper import classpath, java, require_real_zookeeper

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cluster.md"
HOSTS = (1, 2, 3)
CLIENT = 4
QUICKER = {"tickTime": "500", "zookeeper.session.timeout.ms": "6000", "replica.lag.time.max.ms": "3000"}
"""Differences from the page, for a test that waits until a host is missed."""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]


class HostProcess(ServerProcess):
    """A server on a host; it is ready once ``ready_command`` succeeds there and prints ``ready_text``."""

    def __init__(
        self, hosts: Hosts, number: int, command: list[str], log_file: Path, ready_command: str, ready_text: str
    ) -> None:
        super().__init__(hosts.command(number, command), 0, log_file)
        self._ready = hosts.command(number, ["bash", "-c", ready_command])
        self._ready_text = ready_text

    def is_ready(self) -> bool:
        done = subprocess.run(self._ready, capture_output=True, text=True, check=False)
        return done.returncode == 0 and re.search(self._ready_text, done.stdout) is not None


def shown(title: str) -> dict[str, str]:
    """The properties in a block of the page."""
    (block,) = re.findall(rf'^```properties title="{title}"\n(.*?)^```$', PAGE.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for line in block.splitlines() if line and not line.startswith("#")]
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


class Ensemble:
    """The servers on the three hosts, and commands on a fourth."""

    def __init__(self, hosts: Hosts, folder: Path, stack: ExitStack) -> None:
        self._hosts = hosts
        self._folder = folder
        self.zookeepers = {number: self._zookeeper(number) for number in HOSTS}
        self.brokers = {number: self._broker(number) for number in HOSTS}
        for server in (*self.zookeepers.values(), *self.brokers.values()):
            stack.callback(server.stop)
        for zookeeper in self.zookeepers.values():  # none is ready before there is a quorum
            zookeeper.spawn()
        for server in (*self.zookeepers.values(), *self.brokers.values()):
            server.start()

    def _configured(self, title: str, number: int, own: dict[str, str]) -> Path:
        """The page's configuration for a host, written to its folder."""
        folder = self._folder / f"host-{number}"
        folder.mkdir(exist_ok=True)
        settings = shown(title)
        settings = {
            key: re.sub(r"kafka-(\d)", lambda m: self._hosts.address(int(m[1])), value)
            for key, value in (settings | own).items()
        }
        file = folder / title
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return file

    def _zookeeper(self, number: int) -> HostProcess:
        data = self._folder / f"zookeeper-{number}"
        data.mkdir()
        (data / "myid").write_text(f"{number}\n")
        own = {"dataDir": str(data), "tickTime": QUICKER["tickTime"], "admin.enableServer": "false"}
        own |= {"4lw.commands.whitelist": "srvr"}
        config = self._configured("zoo.cfg", number, own)
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        options = ["-Xmx128m", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no", "-cp", classpath() or ""]
        asks = f"exec 3<>/dev/tcp/{self._hosts.address(number)}/2181 && echo srvr >&3 && cat <&3"
        command = [java() or "java", *options, main, str(config)]
        return HostProcess(self._hosts, number, command, data / "server.log", asks, r"Mode: (leader|follower)")

    def _broker(self, number: int) -> HostProcess:
        logs = self._folder / f"logs-{number}"
        own = {
            "broker.id": str(number),
            "advertised.listeners": f"PLAINTEXT://kafka-{number}:9092",
            "log.dirs": str(logs),
            **{key: value for key, value in QUICKER.items() if key != "tickTime"},
        }
        config = self._configured("server.properties", number, own)
        log_file = self._folder / f"broker-{number}.log"
        return HostProcess(
            self._hosts, number, [*SERVER_START, str(config)], log_file, f"cat {log_file}", r"\) started: "
        )

    def run(self, tool: str, *arguments: str, bootstrap: int = 1, text: str = "") -> str:
        """Run one of our tools on the client's host; returns what it prints."""
        server = f"{self._hosts.address(bootstrap)}:9092"
        command = [sys.executable, "-m", "kafka_lite.tools.main", tool, "--bootstrap-server", server, *arguments]
        done = subprocess.run(
            self._hosts.command(CLIENT, command),
            input=text,
            capture_output=True,
            text=True,
            timeout=patient_s(120),
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def state(self, bootstrap: int) -> tuple[int, set[int]]:
        """Leader and ISR of the topic."""
        printed = self.run("topics", "--describe", "--topic", "orders", bootstrap=bootstrap)
        match = re.search(r"Leader: (\d+|none)\s+Replicas: \S+\s+Isr: (\S*)", printed)
        assert match is not None, printed
        return -1 if match[1] == "none" else int(match[1]), {int(each) for each in match[2].split(",") if each}

    def log(self, number: int) -> bytes:
        """The bytes of a replica."""
        return (self._folder / f"logs-{number}" / "orders-0" / f"{0:020}.log").read_bytes()


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    require_hosts()
    with Hosts(CLIENT) as hosts:
        yield hosts


def test_a_host_whose_cable_is_pulled_loses_leadership_and_no_record(hosts: Hosts, tmp_path: Path) -> None:
    require_real_zookeeper(debian=True)
    with ExitStack() as stack:
        ensemble = Ensemble(hosts, tmp_path, stack)
        ensemble.run("topics", "--create", "--topic", "orders", "--replica-assignment", "1:2:3")
        acks_all = ("--topic", "orders", "--request-required-acks", "-1")
        ensemble.run("console-producer", *acks_all, text="".join(f"before {number}\n" for number in range(50)))
        eventually(lambda: ensemble.state(1) == (1, {1, 2, 3}))

        hosts.unplug(1)  # a broker and one of three ZooKeepers
        eventually(lambda: ensemble.state(2) == (2, {2, 3}))
        after = "".join(f"after {number}\n" for number in range(50))
        ensemble.run("console-producer", *acks_all, bootstrap=2, text=after)

        hosts.plug_in(1)
        eventually(lambda: ensemble.state(1)[1] == {1, 2, 3})
        assert ensemble.brokers[1].is_running, "it was cut off, and never stopped"
        expected = [f"{part} {number}" for part in ("before", "after") for number in range(50)]
        printed = ensemble.run(
            "console-consumer", "--topic", "orders", "--partition", "0", "--offset", "earliest", "--max-messages", "100"
        )
        assert printed.splitlines()[:100] == expected
        eventually(lambda: len(ensemble.log(1)) == len(ensemble.log(2)))
        assert ensemble.log(1) == ensemble.log(2) == ensemble.log(3)
