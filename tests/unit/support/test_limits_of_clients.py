"""Tests that run beside others on a busy machine give no client a limit of wall-clock time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.program import ROOT

PACES = {("test_connect_system_scenarios.py", "self._stopped.wait(10)")}
"""A source without records, which would otherwise be polled all the time."""
SECONDS = {10, 20, 30, 60, 90, 120, 300, 400}
IN_SECONDS = {"poll", "consume"}
IN_EITHER = {"flush", "result", "exception", "get", "wait", "join", "communicate"}
"""Our own clients take milliseconds."""


def limits(source: str) -> Iterator[str]:
    """The calls that take a timeout, as the last argument or by name, and are given a number of the source."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        own = node.args[-1:] if name in IN_SECONDS | IN_EITHER else []
        numbers = SECONDS | {1000 * each for each in SECONDS if name in IN_EITHER}
        for given in (*own, *(each.value for each in node.keywords if each.arg == "timeout")):
            if isinstance(given, ast.Constant) and type(given.value) in (int, float) and given.value in numbers:
                yield ast.unparse(node)


@pytest.mark.parametrize(
    ("call", "is_found"),
    [
        ("producer.flush(60)", True),
        ("future.get(60_000)", True),
        ("consumer.consume(100, 30)", True),
        ("run(command, timeout=120)", True),
        ("consumer.poll(60)", True),
        ("consumer.poll(0.1)", False),
        ("consumer.poll(10_000)", False),
        ("future.result(patient_s(60))", False),
        ("eventually(condition, timeout_s=120)", False),
    ],
)
def test_limits_are_found_in_source(call: str, is_found: bool) -> None:
    assert bool(list(limits(call))) == is_found


@pytest.mark.parametrize("folder", ["jvm", "chaos", "clients", "integration"])
def test_clients_wait_for_as_long_as_the_machine_is_busy(folder: str) -> None:
    """``tests.support.patient_clients`` and ``patient_s`` are what to wait with."""
    paths = (ROOT / "tests" / folder).rglob("*.py")
    found = [(path.name, call) for path in paths for call in limits(path.read_text(encoding="utf-8"))]
    assert set(found) - PACES == set()
