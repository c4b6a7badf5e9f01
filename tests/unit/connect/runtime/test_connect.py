from typing import Any

import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.connect import Connect


class Part:
    """A herder or a REST server: tells what is done with it."""

    failure: Exception | None = None

    def __init__(self, name: str, told: list[str], fails: str = "") -> None:
        self._name, self._told, self._fails = name, told, fails

    def start(self, *_: Any) -> None:
        self._tell("start")

    def stop(self) -> None:
        self._tell("stop")

    def _tell(self, what: str) -> None:
        self._told.append(f"{self._name} {what}")
        if what == self._fails:
            raise ConnectError(f"{self._name} fails")


def _connect(told: list[str], herder: str = "", rest: str = "") -> Connect:
    parts: Any = (Part("herder", told, herder), Part("rest", told, rest))
    return Connect(*parts)


def test_the_herder_is_there_whenever_requests_are_served() -> None:
    told: list[str] = []
    connect = _connect(told)
    connect.start()
    assert not connect.await_stop(0)
    connect.stop()
    connect.stop()
    assert told == ["herder start", "rest start", "rest stop", "herder stop"]
    assert connect.await_stop(0)


@pytest.mark.parametrize(("herder", "rest"), [("start", ""), ("", "start")])
def test_a_start_that_fails_leaves_nothing_running(herder: str, rest: str) -> None:
    told: list[str] = []
    with pytest.raises(ConnectError, match="fails"):
        _connect(told, herder, rest).start()
    assert told[-2:] == ["rest stop", "herder stop"]


def test_the_herder_stops_if_the_rest_interface_cannot() -> None:
    told: list[str] = []
    connect = _connect(told, rest="stop")
    with pytest.raises(ConnectError):
        connect.stop()
    assert told == ["rest stop", "herder stop"]
    assert connect.await_stop(0)


def test_a_herder_that_has_failed_ends_the_wait() -> None:
    connect = _connect([])
    connect.start()
    assert not connect.await_stop(0)
    herder: Any = connect.herder
    herder.failure = ConnectError("the group refuses the worker")
    assert connect.await_stop(0)
