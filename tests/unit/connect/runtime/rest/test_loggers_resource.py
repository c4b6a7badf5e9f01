from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_lite.common.process.log_levels import Loggers
from kafka_lite.common.time import MockTime
from tests.support.connect_rest import FakeHerder, ask, error

NAME = "connect_loggers.room"
NOW_MS = 1_500_000_000_000


class LevelsHerder(FakeHerder):
    """A herder that knows loggers."""

    def __init__(self) -> None:
        super().__init__()
        self.loggers = Loggers(MockTime(NOW_MS))

    def logger_levels(self) -> dict[str, tuple[str, int | None]]:
        return self.loggers.levels()

    def set_worker_logger_level(self, name: str, level: str) -> list[str]:
        return self.loggers.set_level(name, level.upper())


@pytest.fixture(autouse=True)
def room() -> Iterator[logging.Logger]:
    logger, child = logging.getLogger(NAME), logging.getLogger(f"{NAME}.child")
    logger.setLevel(logging.WARNING)
    assert child.level == logging.NOTSET
    yield logger
    logger.setLevel(logging.NOTSET)


@pytest.fixture
def herder() -> LevelsHerder:
    return LevelsHerder()


def test_all_loggers_are_listed_with_log4js_names_of_levels(herder: LevelsHerder) -> None:
    found = json.loads(ask(herder, "GET", "/admin/loggers").body)
    expected = {"level": "WARN", "last_modified": None}
    assert found[NAME] == found[f"{NAME}.child"] == expected
    assert "root" in found
    assert json.loads(ask(herder, "GET", f"/admin/loggers/{NAME}").body) == expected


@pytest.mark.parametrize("query", ["", "?scope=worker", "?scope=WORKER", "?scope=galaxy"])
def test_a_level_is_set_for_all_below(
    herder: LevelsHerder, room: logging.Logger, caplog: pytest.LogCaptureFixture, query: str
) -> None:
    response = ask(herder, "PUT", f"/admin/loggers/{NAME}{query}", {"level": "debug"})
    assert (response.status, json.loads(response.body)) == (200, [NAME, f"{NAME}.child"])
    assert room.level == logging.DEBUG
    found = json.loads(ask(herder, "GET", f"/admin/loggers/{NAME}.child").body)
    assert found == {"level": "DEBUG", "last_modified": NOW_MS}
    assert ("invalid scope 'galaxy'" in caplog.text) == query.endswith("galaxy")


def test_a_level_for_all_workers_is_handed_on(herder: LevelsHerder, room: logging.Logger) -> None:
    response = ask(herder, "PUT", f"/admin/loggers/{NAME}?scope=cluster", {"level": "debug"})
    assert (response.status, response.body) == (204, b"")
    assert herder.calls == [("set_cluster_logger_level", NAME, "debug")]
    assert room.level == logging.WARNING


def test_what_is_wrong_is_said(herder: LevelsHerder, room: logging.Logger) -> None:
    def put(body: Any) -> tuple[int, str]:
        return error(ask(herder, "PUT", f"/admin/loggers/{NAME}?scope=cluster", body))

    assert error(ask(herder, "GET", "/admin/loggers/none")) == (404, "Logger none not found.")
    assert put({"level": "LOUD"}) == (404, "invalid log level 'LOUD'.")
    bodies: list[Any] = [{}, [], {"level": None}]
    for body in bodies:
        assert put(body) == (400, "Desired 'level' parameter was not specified in request.")
    assert (room.level, herder.calls) == (logging.WARNING, [])
