from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from kafka_lite.common.process.log_levels import Loggers, level_name
from kafka_lite.common.time import MockTime

NAME = "loggers_of_the_test"
ROOM, CHILD, DEAF = NAME, f"{NAME}.child", f"{NAME}.deaf"


@pytest.fixture(autouse=True)
def _tree() -> Iterator[None]:
    for name, level in ((ROOM, logging.WARNING), (CHILD, logging.NOTSET), (DEAF, logging.ERROR)):
        logging.getLogger(name).setLevel(level)
    root = logging.root.level
    yield
    logging.root.setLevel(root)
    for name in (ROOM, CHILD, DEAF):
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_all_below_get_the_level_even_those_with_one_of_their_own() -> None:
    time = MockTime(7)
    loggers = Loggers(time)
    assert loggers.levels()[CHILD] == ("WARN", None)
    assert loggers.set_level(ROOM, "DEBUG") == [ROOM, CHILD, DEAF]
    assert {loggers.levels()[name] for name in (ROOM, CHILD, DEAF)} == {("DEBUG", 7)}
    assert not logging.getLogger(NAME + "_other").level

    time.sleep(2)
    assert loggers.set_level(CHILD, "TRACE") == [CHILD]
    loggers.set_level(DEAF, "DEBUG")  # which it has
    assert [loggers.levels()[name] for name in (ROOM, CHILD, DEAF)] == [("DEBUG", 7), ("TRACE", 9), ("DEBUG", 7)]


def test_a_logger_that_does_not_exist_is_made() -> None:
    loggers = Loggers(MockTime(7))
    name = f"{NAME}.of_a_plug_in"
    assert loggers.set_level(name, "FATAL") == [name]
    assert loggers.levels()[name] == ("FATAL", 7)


def test_the_root_is_above_all() -> None:
    loggers = Loggers(MockTime(7))
    assert {"root", ROOM, CHILD, DEAF} <= set(loggers.set_level("root", "INFO"))
    assert {loggers.levels()[name][0] for name in ("root", ROOM, CHILD, DEAF)} == {"INFO"}


def test_a_level_between_two_has_the_name_of_the_lower_one() -> None:
    assert [level_name(level) for level in (1, 5, 15, 20, 60)] == ["TRACE", "TRACE", "DEBUG", "INFO", "FATAL"]
