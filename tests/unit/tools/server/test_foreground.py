"""A server in the foreground: exit codes, its ready line, and errors explained in words."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.network.acceptor import PortInUseError
from kafka_lite.server.broker_process import HOST, free_port
from kafka_lite.tools.common.stop_signals import StopSignals
from kafka_lite.tools.server.foreground import explain, overrides, run_in_foreground
from kafka_lite.tools.server.server_start import shipped_properties
from kafka_lite.zookeeper.zk_errors import ZkConnectionError


class Server:
    """Does at each step what the test prescribes."""

    def __init__(self, startup: Exception | None = None, signal_at: str = "") -> None:
        self.calls: list[str] = []
        self._startup = startup
        self._signal_at = signal_at

    def _step(self, name: str) -> None:
        self.calls.append(name)
        if name == self._signal_at:
            signal.raise_signal(signal.SIGTERM)

    def startup(self) -> None:
        self._step("startup")
        if self._startup is not None:
            raise self._startup

    def ready_line(self) -> str:
        return "ready"

    def await_shutdown(self, timeout_s: float) -> bool:
        self._step("await_shutdown")
        return True

    def shutdown(self) -> None:
        self._step("shutdown")


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in StopSignals.SIGNALS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("step", ["startup", "await_shutdown"])
def test_a_signal_stops_the_server_cleanly_at_any_step(step: str, capsys: pytest.CaptureFixture[str]) -> None:
    server = Server(signal_at=step)
    assert run_in_foreground("test", lambda: server) == 0
    assert server.calls[-1] == "shutdown"
    assert capsys.readouterr().out == ("" if step == "startup" else "ready\n")


def test_a_signal_that_does_not_wake_the_main_thread_up_stops_the_server() -> None:
    class Waiting(Server):
        def await_shutdown(self, timeout_s: float) -> bool:
            if not self.calls[-1].startswith("await"):
                threading.Thread(target=self._signal_to_that_thread).start()
            self.calls.append("await_shutdown")
            assert timeout_s <= 1, "for so long a signal could go unnoticed"
            return threading.Event().wait(timeout_s)

        def _signal_to_that_thread(self) -> None:
            time.sleep(0.05)  # the main thread is likely to wait by now; what is asserted does not depend on it
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    server = Waiting()
    assert run_in_foreground("test", lambda: server) == 0
    assert server.calls == ["startup", "await_shutdown", "shutdown"], "it noticed the signal after the first wait"


@pytest.mark.parametrize("then", [None, ZkConnectionError("Connection has been closed")], ids=["nothing", "an error"])
def test_a_signal_whose_exception_a_library_swallows_still_stops_the_server(
    then: ZkConnectionError | None, capsys: pytest.CaptureFixture[str]
) -> None:
    class Swallowing(Server):
        def _step(self, name: str) -> None:
            with contextlib.suppress(BaseException):  # as the bare except of kazoo's KazooClient._call
                super()._step(name)

    server = Swallowing(then, signal_at="startup")
    assert run_in_foreground("test", lambda: server) == 0
    assert server.calls == ["startup", "shutdown"]
    assert capsys.readouterr() == ("", "")


def test_a_signal_during_shutdown_is_ignored() -> None:
    server = Server(signal_at="shutdown")
    assert run_in_foreground("test", lambda: server) == 1
    assert server.calls == ["startup", "await_shutdown", "shutdown"]


@pytest.mark.parametrize("failure", [None, KafkaError("no")])
def test_garbage_collection_is_enabled_after_the_start_whether_it_succeeds_or_fails(failure: KafkaError | None) -> None:
    seen: list[tuple[bool, bool]] = []
    gc.unfreeze()  # pytest's objects, see tests/conftest.py

    class Watching(Server):
        def _step(self, name: str) -> None:
            super()._step(name)
            seen.append((gc.isenabled(), gc.get_freeze_count() > 0))

    run_in_foreground("test", lambda: Watching(failure))
    started = [(False, True)] if failure is None else []  # a GarbageCollector collects
    assert seen == [(False, False), *started, (True, False)]
    assert gc.isenabled()


def test_a_failed_start_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_in_foreground("test", lambda: Server(KafkaError("no\nluck"))) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "kafka-lite test: no luck\n"


def test_a_failed_creation_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def create() -> Server:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "/x")

    assert run_in_foreground("test", create) == 1
    assert capsys.readouterr().err == (
        "kafka-lite test: No such file or directory: /x. Does the file or folder exist?\n"
    )


def test_a_bug_shows_its_traceback() -> None:
    server = Server(ZeroDivisionError("bug"))
    with pytest.raises(ZeroDivisionError):
        run_in_foreground("test", lambda: server)
    assert server.calls[-1] == "shutdown"


def test_overrides_are_split_at_the_first_equals_sign() -> None:
    assert overrides(["a=1", "b = x=y ", "a=2", "c="]) == {"a": "2", "b": "x=y", "c": ""}


@pytest.mark.parametrize("entry", ["a", "=1", ""])
def test_an_override_without_a_name_is_rejected(entry: str) -> None:
    with pytest.raises(KafkaError, match="property=value"):
        overrides([entry])


def test_a_port_in_use_is_explained_even_if_wrapped_in_another_error() -> None:
    error = KafkaError("Socket server failed to bind to 127.0.0.1:9092: Address already in use.")
    error.__cause__ = OSError(errno.EADDRINUSE, "Address already in use")
    text = explain(error)
    assert text.startswith(
        "Socket server failed to bind to 127.0.0.1:9092: Address already in use. Is another server running"
    )
    assert "server-stop" in text


def test_the_port_suggested_instead_of_one_in_use_is_free() -> None:
    port = free_port()
    with socket.create_server((HOST, port)), socket.create_server((HOST, port + 1)):
        advised = re.search(rf"listeners=PLAINTEXT://{HOST}:(\d+)", explain(PortInUseError("in use", HOST, port)))
        assert advised is not None
        assert int(advised[1]) > port + 1
        with socket.create_server((HOST, int(advised[1]))):
            pass


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "The disk is full: free some space there"),
        (errno.EMFILE, "ulimit -n"),
        (errno.ENOMEM, "vm.max_map_count"),
    ],
)
def test_exhausted_resources_are_explained(number: int, advice: str) -> None:
    text = explain(OSError(number, os.strerror(number), "/data/logs"))
    assert text.startswith(f"{os.strerror(number)}: /data/logs. ")
    assert advice in text


def test_an_unreachable_zookeeper_is_explained() -> None:
    text = explain(ZkConnectionError("Unable to connect: is it running?"))
    advice = "With `zookeeper.connect=embedded`, the broker needs no other server."
    assert text == f"Unable to connect: is it running? {advice}"


def test_the_shipped_configuration_is_found() -> None:
    assert "broker.id=0" in shipped_properties().read_text(encoding="utf-8")
    assert isinstance(shipped_properties(), Path)
