"""Statement-level switching shows a race between plain statements, which switches at locks alone do not."""

from __future__ import annotations

import ast
from collections.abc import Callable
from random import Random
from typing import Any

from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler
from kafka_lite.testing.simulation.system.switching import SWITCH, with_switches

COUNTER = b'''
"""A module."""
from __future__ import annotations

count = 0


class Counter:
    """A class."""

    step = 1

    def add(self):
        """Add one, in two statements."""
        global count
        before = count
        for _ in range(1):
            if before >= 0:
                try:
                    count = before + self.step
                finally:
                    pass
            else:
                count = 0
'''


def counted(switch: Callable[[Scheduler], Callable[[], None]]) -> int:
    """What two tasks that add 200 each count to."""
    world, owner = Scheduler(Random(1), EventLog(), step_ns=50_000), Owner("p")
    names: dict[str, Any] = {SWITCH: switch(world)}
    exec(compile(with_switches(COUNTER, "counter.py"), "counter.py", "exec", dont_inherit=True), names)

    def add_many() -> None:
        for _ in range(200):
            names["Counter"]().add()

    for name in ("one", "other"):
        world.spawn(owner, name, add_many)
    world.at(10**12, world.stop)
    world.run()
    return int(names["count"])


def test_a_lock_that_was_left_out_is_noticed_with_switches_at_statements() -> None:
    assert counted(lambda world: world.pass_statement) < 400


def test_now_and_then_a_task_gets_no_processor_for_a_while() -> None:
    world, ended_ns = Scheduler(Random(1), EventLog(), step_ns=50_000), []

    def pass_statements() -> None:
        for _ in range(40 * 200):
            world.pass_statement()
        ended_ns.append(world.now_ns)

    world.spawn(Owner("p"), "one", pass_statements)
    world.run(until_ns=10**12)
    assert ended_ns[0] > 10 * 200 * 50_000


def test_the_program_means_the_same_with_the_calls_in_it() -> None:
    assert counted(lambda _: lambda: None) == 400


def test_only_functions_are_changed_and_lines_stay_the_same() -> None:
    plain, changed = ast.parse(COUNTER), with_switches(COUNTER, "counter.py")
    kept = [node for node in ast.walk(changed) if not _is_call(node)]
    lines = [getattr(node, "lineno", 0) for node in ast.walk(plain) if isinstance(node, ast.stmt)]
    assert sorted(getattr(node, "lineno", 0) for node in kept if isinstance(node, ast.stmt)) == sorted(lines)
    assert not any(_is_call(node) for node in changed.body)


def _is_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == SWITCH
    )


def test_a_programs_own_statements_get_a_call_too() -> None:
    module = with_switches(b"n = 1\nwhile n < 3:\n    n += 1", "cell.py", is_program=True)
    touched: list[int] = []
    names: dict[str, object] = {SWITCH: lambda: touched.append(1)}
    exec(compile(module, "cell.py", "exec"), names)
    assert (names["n"], len(touched)) == (3, 4)
