"""What ``kafka-lite top --clients`` shows."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from kafka_lite.tools.monitoring import top
from kafka_lite.tools.monitoring.clients_view import clients_snapshot, clients_view
from tests.support.kafka_tools import our_tool

NAN = float("nan")
BEANS: dict[str, Any] = {
    "kafka.server:type=Produce,client-id=fast": {"byte-rate": 2_000_000.0, "throttle-time": NAN},
    "kafka.server:type=Produce,client-id=slow": {"byte-rate": 1_000_000.0, "throttle-time": 250.0},
    "kafka.server:type=Fetch,client-id=slow": {"byte-rate": 5_000.0, "throttle-time": 0.0},
    'kafka.server:type=Request,user="a%20b",client-id=app': {"request-time": 12.34, "throttle-time": 999.6},
    "kafka.server:type=ControllerMutation,user=c": {"mutation-rate": 0.5, "tokens": 3.0, "throttle-time": "NaN"},
    "kafka.server:type=Produce": {"queue-size": 1.0},
    "kafka.server:type=Request": {"exempt-request-time": 0.1, "queue-size": 2.0},
    "kafka.server:type=app-info,id=1": {"version": "x"},
    "kafka.other:type=Produce,client-id=foreign": {"byte-rate": 1.0},
}


def lines(beans: dict[str, Any], max_rows: int | None = None) -> list[str]:
    text = io.StringIO()
    Console(file=text, width=150, highlight=False).print(clients_view(clients_snapshot(beans), max_rows))
    return [" ".join(line.split()) for line in text.getvalue().splitlines() if line.strip("─ ")]


def test_whoever_is_throttled_for_the_longest_comes_first() -> None:
    assert lines(BEANS) == [
        "4 users and client ids throttled 2 waiting now produce 1, request 2",
        "user client id in/s out/s threads partitions/s throttled",
        "a b app 0 0 12.3 % 0 request 1,000 ms",
        "– slow 1.0 MB 5.0 kB 0.0 % 0 produce 250 ms",
        "– fast 2.0 MB 0 0.0 % 0",
        "c – 0 0 0.0 % 0.5",
        "throttled: mean delay of throttled requests, by what exceeded its quota",
    ]


def test_clients_that_do_not_fit_are_counted() -> None:
    assert lines(BEANS, max_rows=3)[-1].endswith("· … and 1 more")


def test_without_quotas_nobody_is_measured() -> None:
    (line,) = lines({"kafka.server:type=Produce": {"queue-size": 0.0}})
    assert line.startswith("no client has been measured")


def test_the_tool_reads_the_beans_of_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top.BrokerBeans, "read", lambda _beans: BEANS)
    seen = our_tool("top", "--clients", "--once", "--metrics-url", "http://127.0.0.1:1")
    assert seen.code == 0
    assert "produce 250 ms" in seen.output
