"""Parts of a broker that are made when somebody first asks for them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from kafka_lite.server.startup.made_when_asked import MadeWhenAsked, late_handler

THREADS = 8


def test_a_part_is_made_once_by_whoever_asks_first() -> None:
    makers: list[int] = []
    start = threading.Barrier(THREADS)

    def make() -> list[int]:
        makers.append(threading.get_ident())
        return makers

    part = MadeWhenAsked(make)
    assert part.made is None

    def ask(_number: int) -> list[int]:
        start.wait()
        return part()

    with ThreadPoolExecutor(THREADS) as threads:
        asked = list(threads.map(ask, range(THREADS)))
    assert len(makers) == 1
    assert all(each is makers for each in asked)
    assert part.made is makers


def test_a_part_that_cannot_be_made_is_tried_again() -> None:
    attempts: list[str] = []

    def make() -> str:
        attempts.append("try")
        if len(attempts) == 1:
            raise OSError("no such file")
        return "made"

    part = MadeWhenAsked(make)
    try:
        part()
    except OSError as error:
        attempts.append(str(error))
    assert part() == "made"
    assert attempts == ["try", "no such file", "try"]


def test_a_late_handler_looks_its_handler_up_for_each_request() -> None:
    calls: list[Any] = []

    def handler() -> Any:
        calls.append("looked up")
        return lambda request, body, respond: respond((request, body))

    handle = late_handler(handler)
    assert calls == []
    handle(cast(Any, "request"), "body", calls.append)
    assert calls == ["looked up", ("request", "body")]
