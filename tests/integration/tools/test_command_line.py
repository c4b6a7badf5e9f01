"""The servers of the command line as processes: ready line, signals, exit codes, and failed starts."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

import pytest

from kafka_lite.common.properties import load_properties
from kafka_lite.log.dirs.file_lock import FileLock
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

READY = re.compile(
    r"kafka_lite \S+ \((?:plain|compiled)\) started: 127\.0\.0\.1:(\d+) \(PLAINTEXT\), "
    r"ZooKeeper (127\.0\.0\.1:\d+) \(embedded\), log\.dirs=(.*)"
)
LOG_LINE = re.compile(r"\[[-\d]+ [:\d]+,\d{3}\] (INFO|WARN) .* \(kafka_lite\.\S+\)")
FREE_PORTS = {"listeners": "PLAINTEXT://127.0.0.1:0", "zookeeper.embedded.port": "0"}
TIMEOUT_S = 60


class Command:
    """``kafka-lite`` in a process, with a home directory of the test; killed at the end if it still runs."""

    def __init__(
        self,
        home: Path,
        *arguments: str,
        stdin: int | None = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        environment = {
            **(variables or {}),
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_DATA_HOME": str(home / "data"),
            "PYTHONWARNINGS": "error",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kafka_lite.tools.main", *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ready(self) -> str:
        """The first line of stdout; empty if the process ended without one."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")

    def next_log_line(self) -> str:
        assert self._process.stderr is not None
        return self._process.stderr.readline()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self, text: str | None = None) -> tuple[int, str, str]:
        """Wait for the end; returns exit code, the rest of stdout, stderr."""
        out, err = self._process.communicate(text, timeout=patient_s(TIMEOUT_S))
        return self._process.returncode, out, err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def as_arguments(overrides: dict[str, str]) -> list[str]:
    return [word for name, value in overrides.items() for word in ("--override", f"{name}={value}")]


def start_broker(home: Path, **overrides: str) -> Command:
    settings = FREE_PORTS | {"log.dirs": str(home / "logs")} | {k.replace("_", "."): v for k, v in overrides.items()}
    return Command(home, "server-start", *as_arguments(settings))


def run(home: Path, *arguments: str) -> tuple[int, str, str]:
    with Command(home, *arguments) as command:
        return command.end()


@pytest.fixture
def held_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


# ------------------------------------------------------------------------------------------------------- server-start


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_broker_prints_its_ready_line_serves_and_stops_on_a_signal(number: signal.Signals, tmp_path: Path) -> None:
    with start_broker(tmp_path) as broker:
        ready = READY.fullmatch(broker.ready())
        assert ready is not None
        assert ready[3] == str(tmp_path / "logs")
        with BlockingChannel("127.0.0.1", int(ready[1])) as channel:
            answer = channel.exchange(ApiVersionsRequest(), 0)
        assert answer.error_code == 0
        broker.signal(number)
        code, out, err = broker.end()
    assert (code, out) == (0, "")
    assert "Traceback" not in err
    assert (tmp_path / "logs" / ".kafka_cleanshutdown").exists()
    assert err
    assert [line for line in err.splitlines() if not LOG_LINE.fullmatch(line)] == []


def test_a_broker_on_a_terminal_says_what_to_try(tmp_path: Path) -> None:
    terminal, its_side = pty.openpty()
    settings = FREE_PORTS | {"log.dirs": str(tmp_path / "logs")}
    with Command(
        tmp_path, "server-start", *as_arguments(settings), stdout=its_side, variables={"TERM": "xterm"}
    ) as broker:
        os.close(its_side)
        shown = b""
        while b"Ctrl-C stops the broker." not in shown:
            shown += os.read(terminal, 4096)
        broker.signal(signal.SIGTERM)
        assert broker.end()[0] == 0
    os.close(terminal)
    port = re.search(rb"127\.0\.0\.1:(\d+) \(PLAINTEXT\)", shown)
    assert port is not None
    assert b"Try, in another terminal:" in shown
    assert b"--bootstrap-server 127.0.0.1:%s --topic orders --from-beginning" % port[1] in shown


def test_without_a_file_the_shipped_configuration_and_the_users_directory_are_used(tmp_path: Path) -> None:
    with Command(tmp_path, "server-start", *as_arguments(FREE_PORTS)) as broker:
        ready = READY.fullmatch(broker.ready())
        assert ready is not None
        assert ready[3] == str(tmp_path / "data" / "kafka-lite" / "kafka-logs")
        assert (tmp_path / "data" / "kafka-lite" / "kafka-logs" / "meta.properties").exists()
        broker.signal(signal.SIGTERM)
        assert broker.end()[0] == 0


def test_overrides_take_precedence_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.properties"
    file.write_text(
        f"broker.id=5\nlog.dirs={tmp_path}/from-file\nlisteners=PLAINTEXT://127.0.0.1:0\nzookeeper.connect=embedded\n"
        "zookeeper.embedded.port=0\nnot.a.key=x\n"
    )
    with Command(tmp_path, "server-start", str(file), "--override", f"log.dirs={tmp_path}/overridden") as broker:
        assert broker.ready().endswith(f"log.dirs={tmp_path}/overridden")
        broker.signal(signal.SIGTERM)
        code, _, err = broker.end()
    assert code == 0
    assert "broker.id=5" in (tmp_path / "overridden" / "meta.properties").read_text()
    assert "'not.a.key' was supplied but isn't a known config" in err


def test_a_signal_during_the_start_stops_the_broker_cleanly(tmp_path: Path) -> None:
    with start_broker(tmp_path, unknown_key="x") as broker:
        assert re.search(r"kafka_lite \S+, (plain|compiled)\b", broker.next_log_line())
        assert "unknown.key" in broker.next_log_line()  # the configuration has been read, nothing has been started
        broker.signal(signal.SIGTERM)
        code, out, err = broker.end()
    assert (code, out) == (0, "")
    assert "Traceback" not in err


def refused(home: Path, **overrides: str) -> str:
    """Start a broker that must not start; returns the one line of its error."""
    with start_broker(home, **overrides) as broker:
        code, out, err = broker.end()
    assert (code, out) == (1, "")
    assert "Traceback" not in err
    said = [line for line in err.splitlines() if not line.startswith("[")]
    assert len(said) == 1, err
    assert said[0].startswith("kafka-lite server-start: ")
    return said[0]


def test_an_invalid_value_is_reported_by_name(tmp_path: Path) -> None:
    assert "num.io.threads" in refused(tmp_path, num_io_threads="many")


def test_a_port_in_use_is_reported(tmp_path: Path, held_port: int) -> None:
    said = refused(tmp_path, listeners=f"PLAINTEXT://127.0.0.1:{held_port}")
    assert (
        f"127.0.0.1:{held_port}: Address already in use. Another program is listening there. To use another port: "
        in said
    )
    assert "`kafka-lite server-start --override listeners=PLAINTEXT://127.0.0.1:" in said


def test_a_port_in_use_is_detected_before_anything_is_loaded(tmp_path: Path, held_port: int) -> None:
    listeners = f"PLAINTEXT://127.0.0.1:0,OTHER://127.0.0.1:{held_port}"
    protocols = "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT"
    said = refused(tmp_path, listeners=listeners, listener_security_protocol_map=protocols)
    assert f"127.0.0.1:{held_port}: Address already in use" in said
    assert list(tmp_path.glob("logs*")) == []  # neither log directories nor that of the embedded ZooKeeper


def test_the_broker_that_uses_the_port_is_named(tmp_path: Path) -> None:
    # Not an ephemeral port: the suggestion is the next one, which another test's connection could have.
    with start_broker(tmp_path, listeners=f"PLAINTEXT://127.0.0.1:{free_port()}") as first:
        ready = READY.fullmatch(first.ready())
        assert ready is not None
        said = refused(tmp_path, listeners=f"PLAINTEXT://127.0.0.1:{ready[1]}")
        assert f"Your broker 0 (process {first.pid}) is listening there: `kafka-lite server-stop` stops it." in said
        advice = re.search(r"with its own data: `kafka-lite (server-start .*) --override log.dirs=FOLDER`", said)
        assert advice is not None
        port = ["--override", "zookeeper.embedded.port=0"]  # not 2181, which another test may have
        others = [*advice[1].split(), "--override", f"log.dirs={tmp_path / 'others'}", *port]
        with Command(tmp_path, *others) as second:
            assert READY.fullmatch(second.ready())
            second.signal(signal.SIGTERM)
            assert second.end()[0] == 0
        first.signal(signal.SIGTERM)
        assert first.end()[0] == 0


def test_a_configured_zookeeper_port_in_use_is_reported(tmp_path: Path, held_port: int) -> None:
    said = refused(tmp_path, zookeeper_embedded_port=str(held_port))
    assert f"ZooKeeper server failed to bind to 127.0.0.1:{held_port}: Address already in use" in said


@pytest.mark.parametrize("variables", [{"PYTHONUTF8": "0"}, {"PYTHONUTF8": "1"}, {"PYTHONIOENCODING": "ascii"}])
def test_a_folder_with_a_chinese_name_in_the_posix_locale(tmp_path: Path, variables: dict[str, str]) -> None:
    logs = tmp_path / "数据"
    (tmp_path / "server.properties").write_text(f"zookeeper.connect=embedded\nlog.dirs={logs}\n", encoding="utf-8")
    arguments = ["server-start", str(tmp_path / "server.properties"), *as_arguments(FREE_PORTS)]
    with Command(tmp_path, *arguments, variables={"LC_ALL": "POSIX", **variables}) as broker:
        assert " started: 127.0.0.1:" in broker.ready()
        with Command(tmp_path, "server-stop", variables={"LC_ALL": "POSIX", **variables}) as stop:
            code, _, err = stop.end()
            assert (code, err) == (0, "")
        code, _, err = broker.end()
    assert code == 0
    assert "Traceback" not in err
    assert (logs / "meta.properties").is_file()


def test_another_port_is_used_if_zookeepers_default_port_is_in_use(tmp_path: Path) -> None:
    with socket.socket() as listener:
        with contextlib.suppress(OSError):  # if another program uses it, all the better
            listener.bind(("127.0.0.1", 2181))
            listener.listen()
        with start_broker(tmp_path, zookeeper_embedded_port="-1") as broker:
            ready = READY.fullmatch(broker.ready())
            assert ready is not None
            assert ready[2] != "127.0.0.1:2181"
            (record,) = (tmp_path / "state" / "kafka-lite" / "brokers").iterdir()
            assert load_properties(record)["zookeeper.connect"] == ready[2]
            broker.signal(signal.SIGTERM)
            code, _, err = broker.end()
    assert code == 0
    assert f"Port 2181 of 127.0.0.1 is in use; ZooKeeper listens on port {ready[2].partition(':')[2]}" in err


def test_a_log_directory_of_another_broker_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    lock = FileLock(tmp_path / "logs" / ".lock")
    assert lock.try_lock()
    try:
        assert "failed to acquire the lock" in refused(tmp_path)
    finally:
        lock.unlock()


def test_two_brokers_on_the_same_directories_are_rejected(tmp_path: Path) -> None:
    with start_broker(tmp_path) as first:
        assert first.ready()
        assert "server-stop" in refused(tmp_path)
        first.signal(signal.SIGTERM)
        assert first.end()[0] == 0


@pytest.mark.parametrize("directory", ["/proc/kafka-lite-logs", "file/logs"])
def test_an_unwritable_log_directory_is_reported(directory: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    logs = str(tmp_path / directory)  # an absolute path is not joined
    said = refused(tmp_path, log_dirs=logs, zookeeper_embedded_dir=str(tmp_path / "zookeeper"))
    assert logs in said
    assert "log.dirs" in said


def test_a_log_directory_beside_which_zookeeper_has_no_place_is_named(tmp_path: Path) -> None:
    said = refused(tmp_path, log_dirs="/proc/kafka-lite-logs")
    assert "log.dirs=/proc/kafka-lite-logs, the embedded ZooKeeper beside it in /proc/kafka-lite-logs-zookeeper" in said
    said = refused(tmp_path, zookeeper_embedded_dir="/proc/zookeeper")
    assert "zookeeper.embedded.dir=/proc/zookeeper: the folder cannot be created" in said


def test_a_configuration_without_zookeeper_is_told_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("broker.id=0\n")
    code, _, err = run(tmp_path, "server-start", str(file))
    assert code == 1
    assert "Missing required configuration zookeeper.connect, which has no default." in err
    assert "None" not in err


def test_an_unreachable_zookeeper_is_reported(tmp_path: Path) -> None:
    said = refused(tmp_path, zookeeper_connect="127.0.0.1:1", zookeeper_connection_timeout_ms="300")
    assert "127.0.0.1:1" in said
    assert "zookeeper.connect=embedded" in said


def test_directories_of_another_broker_id_or_cluster_are_rejected(tmp_path: Path) -> None:
    with Cluster({"broker.id": "3"}, data_dir=tmp_path):
        pass
    said = refused(tmp_path, broker_id="4")
    assert "broker.id 4" in said
    assert "broker.id 3" in said
    said = refused(tmp_path, broker_id="3", zookeeper_embedded_dir=str(tmp_path / "another"))
    assert "cluster" in said.lower()


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "server-start", str(tmp_path / "none.properties"))
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "none.properties" in err


# -------------------------------------------------------------------------------------------------------- server-stop


def test_server_stop_stops_the_brokers_of_this_user(tmp_path: Path) -> None:
    with start_broker(tmp_path) as first, start_broker(tmp_path / "another-user") as second:
        assert first.ready()
        assert second.ready()
        code, out, err = run(tmp_path, "server-stop")
        assert (code, err) == (0, "")
        assert re.fullmatch(rf"Stopping broker 0, process {first.pid}: 127\.0\.0\.1:\d+ \(PLAINTEXT\)\n", out)
        assert first.end()[:2] == (0, "")  # it has ended when server-stop returns
        second.signal(signal.SIGTERM)
        assert second.end()[0] == 0


def test_server_stop_of_one_broker(tmp_path: Path) -> None:
    with start_broker(tmp_path) as zero, start_broker_beside(tmp_path, 1) as one:
        assert zero.ready()
        assert one.ready()
        assert run(tmp_path, "server-stop", "--node-id", "9")[0] == 1
        code, out, _ = run(tmp_path, "server-stop", "--node-id", "1")
        assert code == 0
        assert f"process {one.pid}:" in out
        assert f"process {zero.pid}:" not in out
        assert one.end()[0] == 0
        assert run(tmp_path, "server-stop")[0] == 0
        assert zero.end()[0] == 0


def start_broker_beside(home: Path, broker_id: int) -> Command:
    """Another broker of the same user."""
    settings = FREE_PORTS | {"broker.id": str(broker_id), "log.dirs": str(home / f"logs-{broker_id}")}
    return Command(home, "server-start", *as_arguments(settings))


def test_server_stop_without_a_broker(tmp_path: Path) -> None:
    assert run(tmp_path, "server-stop") == (1, "", "No kafka server to stop\n")


# ---------------------------------------------------------------------------------------------------------- ZooKeeper


ZK_READY = re.compile(r"kafka_lite \S+ ZooKeeper started: (127\.0\.0\.1:\d+), dataDir=(.*)")


@pytest.fixture
def zookeeper(tmp_path: Path) -> Iterator[Command]:
    file = tmp_path / "zookeeper.properties"
    file.write_text(f"dataDir={tmp_path}/zookeeper\nclientPort=0\nmaxClientCnxns=0\nadmin.enableServer=false\n")
    with Command(tmp_path, "zookeeper-server-start", str(file)) as server:
        yield server


def test_zookeeper_server_and_shell(zookeeper: Command, tmp_path: Path) -> None:
    ready = ZK_READY.fullmatch(zookeeper.ready())
    assert ready is not None
    assert ready[2] == f"{tmp_path}/zookeeper"
    address = ready[1]
    assert run(tmp_path, "zookeeper-shell", address, "create", "/a", "two words")[0::2] == (0, "Created /a\n")
    code, out, err = run(tmp_path, "zookeeper-shell", address, "get", "/a")
    assert (code, err) == (0, "")
    assert out == (
        f"Connecting to {address}\n\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null\ntwo words\n"
    )
    assert run(tmp_path, "zookeeper-shell", f"{address}/a", "get", "/no")[0::2] == (1, "Node does not exist: /no\n")
    with Command(tmp_path, "zookeeper-shell", f"{address}/a", stdin=subprocess.PIPE) as shell:
        code, out, err = shell.end('create /b "in a chroot"\nget /b\nget /no\n\nls /\nquit\nget /never\n')
    assert code == 0
    assert [line for line in out.splitlines() if line][-4:-2] == ["in a chroot", "[b]"]
    assert err == "Created /b\nNode does not exist: /no\n"
    zookeeper.signal(signal.SIGTERM)
    code, out, err = zookeeper.end()
    assert (code, out) == (0, "")
    assert "Traceback" not in err


def test_a_broker_on_a_separate_zookeeper(zookeeper: Command, tmp_path: Path) -> None:
    ready = ZK_READY.fullmatch(zookeeper.ready())
    assert ready is not None
    with start_broker(tmp_path, zookeeper_connect=f"{ready[1]}/kafka") as broker:
        assert f"ZooKeeper {ready[1]}/kafka, " in broker.ready()
        _, out, _ = run(tmp_path, "zookeeper-shell", f"{ready[1]}/kafka", "ls", "/brokers/ids")
        assert out.splitlines()[-1] == "[0]"
        broker.signal(signal.SIGTERM)
        assert broker.end()[0] == 0
    _, out, _ = run(tmp_path, "zookeeper-shell", f"{ready[1]}/kafka", "ls", "/brokers/ids")
    assert out.splitlines()[-1] == "[]"


def test_a_failed_start_of_zookeeper_is_reported(tmp_path: Path, held_port: int) -> None:
    arguments = as_arguments({"dataDir": str(tmp_path / "zk"), "clientPort": str(held_port)})
    code, out, err = run(tmp_path, "zookeeper-server-start", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("kafka-lite zookeeper-server-start: ")
    assert err.count("\n") == 1
    assert f"127.0.0.1:{held_port}: Address already in use" in err


def test_a_shell_without_an_address_is_rejected(tmp_path: Path) -> None:
    code, _, err = run(tmp_path, "zookeeper-shell", "127.0.0.1:port", "ls", "/")
    assert code == 1
    assert err.count("\n") == 1
    assert "127.0.0.1:port" in err
