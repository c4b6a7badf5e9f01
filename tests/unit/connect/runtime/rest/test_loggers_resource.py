from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.connect_rest import FakeHerder, ask, error

NAME = "connect_loggers.room"


@pytest.fixture(autouse=True)
def room() -> Iterator[logging.Logger]:
    logger, child = logging.getLogger(NAME), logging.getLogger(f"{NAME}.child")
    logger.setLevel(logging.WARNING)
    assert child.level == logging.NOTSET
    yield logger
    logger.setLevel(logging.NOTSET)


def _put(level: Any, name: str = NAME) -> Any:
    return ask(FakeHerder(), "PUT", f"/admin/loggers/{name}", level)


def test_all_loggers_are_listed_with_log4js_names_of_levels() -> None:
    found = json.loads(ask(FakeHerder(), "GET", "/admin/loggers").body)
    assert found[NAME] == found[f"{NAME}.child"] == {"level": "WARN"}
    assert "root" in found
    assert json.loads(ask(FakeHerder(), "GET", f"/admin/loggers/{NAME}").body) == {"level": "WARN"}


def test_a_level_is_set_for_all_below(room: logging.Logger) -> None:
    assert json.loads(_put({"level": "debug"}).body) == [NAME, f"{NAME}.child"]
    assert room.level == logging.DEBUG
    assert json.loads(ask(FakeHerder(), "GET", f"/admin/loggers/{NAME}.child").body) == {"level": "DEBUG"}


def test_what_is_wrong_is_said(room: logging.Logger) -> None:
    assert error(ask(FakeHerder(), "GET", "/admin/loggers/none")) == (404, "Logger none not found.")
    assert error(_put({"level": "INFO"}, "none")) == (404, "Logger none not found.")
    assert error(_put({"level": "LOUD"})) == (404, "invalid log level 'LOUD'.")
    bodies: list[Any] = [{}, [], {"level": None}]
    for body in bodies:
        assert error(_put(body)) == (400, "Desired 'level' parameter was not specified in request.")
    assert room.level == logging.WARNING
