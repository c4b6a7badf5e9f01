"""Tasks take turns as the seed determines, and time jumps when all of them wait."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.scheduler import (
    BUSY_STEPS,
    DeadlockError,
    Owner,
    RunawayError,
    Scheduler,
    Task,
)

SECOND_NS = 1_000_000_000


def scheduler(seed: int = 1, switch_every: int = 16) -> Scheduler:
    return Scheduler(Random(seed), EventLog(), switch_every)


def order_of_turns(seed: int) -> tuple[list[str], str]:
    world, owner, turns = scheduler(seed), Owner("p"), []

    def take_turns(name: str) -> None:
        for _ in range(3):
            turns.append(name)
            world.give_way()

    for name in "abc":
        world.spawn(owner, name, lambda name=name: take_turns(name))
    world.run(until_ns=1)
    return turns, world.events.digest


def test_a_seed_gives_the_same_order_and_hash() -> None:
    assert order_of_turns(7) == order_of_turns(7)


def test_seeds_give_different_orders() -> None:
    assert len({tuple(order_of_turns(seed)[0]) for seed in range(20)}) > 10


def test_time_jumps_to_the_next_deadline_if_all_wait() -> None:
    world, woken_at = scheduler(), []

    def sleep(duration_s: int) -> None:
        assert world.park(world.now_ns + duration_s * SECOND_NS) is False
        woken_at.append(world.now_ns // SECOND_NS)

    for duration_s in (3_600, 2):
        world.spawn(Owner("p"), "sleeper", lambda duration_s=duration_s: sleep(duration_s))
    world.run(until_ns=4_000 * SECOND_NS)
    assert woken_at == [2, 3_600]
    assert world.now_ns == 4_000 * SECOND_NS


def run_in_turns(turns_s: Sequence[float]) -> str:
    """The digest of a world whose tasks wait for whole seconds, run up to each of these times in turn."""
    world = scheduler()

    def wait_often() -> None:
        for second in range(1, 5):
            world.park(second * SECOND_NS)
            world.touch()

    def begin_another(number: int) -> None:
        world.spawn(Owner(f"q{number}"), "late", wait_often)

    for number in range(5):
        world.spawn(Owner(f"p{number}"), "early", wait_often)
    for turn_s in turns_s:
        world.run(until_ns=int(turn_s * SECOND_NS))
        if turn_s in (2, 3):
            begin_another(int(turn_s))
    return world.events.digest


@pytest.mark.parametrize("turns_s", [(1, 2, 3, 4, 5), (0.5, 1.5, 2, 2.5, 3, 5), (1.9, 2, 2.9, 3, 3.9, 4.0, 5)])
def test_the_turns_in_which_a_world_runs_do_not_change_what_happens(turns_s: Sequence[float]) -> None:
    assert run_in_turns(turns_s) == run_in_turns((2, 3, 5))


def test_a_task_that_is_woken_does_not_wait_for_its_deadline() -> None:
    world, results = scheduler(), []
    waiting = world.spawn(Owner("p"), "waiting", lambda: results.append((world.park(SECOND_NS), world.now_ns)))
    world.after(500, world.wake, waiting)
    world.run(until_ns=2 * SECOND_NS)
    assert results == [(True, 500)]


def test_a_killed_owner_does_not_even_run_finally() -> None:
    world, owner, happened = scheduler(), Owner("p"), []

    def work() -> None:
        try:
            world.park(SECOND_NS)
        finally:
            happened.append("finally")

    world.spawn(owner, "worker", work)
    world.after(10, world.kill, owner)
    world.run(until_ns=2 * SECOND_NS)
    assert happened == []
    assert len(owner.tasks) == 1


def test_a_paused_owner_continues_after_resume() -> None:
    world, owner, woken_at = scheduler(), Owner("p"), []

    def work() -> None:
        world.park(10)
        woken_at.append(world.now_ns)

    world.spawn(owner, "worker", work)
    world.at(5, world.pause, owner)
    world.at(700, world.resume, owner)
    world.run(until_ns=SECOND_NS)
    assert woken_at == [700]


def test_an_interruption_runs_in_the_task_while_it_waits() -> None:
    world, happened = scheduler(), []

    def wait() -> None:
        while world.park(SECOND_NS):
            happened.append("looked again")
        happened.append("over")

    def interrupt(task: Task) -> None:
        world.interrupt(task, lambda: happened.append(world.current is task))

    world.at(10, interrupt, world.spawn(Owner("p"), "main", wait))
    world.run(until_ns=2 * SECOND_NS)
    assert happened == [True, "looked again", "over"]


def test_tasks_that_all_wait_for_ever_are_a_deadlock() -> None:
    world = scheduler()
    world.spawn(Owner("stuck"), "forever", lambda: world.park() and None)
    with pytest.raises(DeadlockError, match="stuck/forever"):
        world.run()


def test_a_task_that_never_lets_time_pass_is_named() -> None:
    world = scheduler()

    def spin() -> None:
        while True:
            world.give_way()

    world.spawn(Owner("p"), "spinner", spin)
    with pytest.raises(RunawayError, match="p/spinner"):
        world.run(until_ns=SECOND_NS)


def test_an_exception_of_a_task_ends_the_run() -> None:
    world = scheduler()

    def fail() -> None:
        raise ValueError("seen")

    world.spawn(Owner("p"), "failing", fail)
    with pytest.raises(ValueError, match="seen"):
        world.run(until_ns=SECOND_NS)


def test_a_cancelled_timer_neither_fires_nor_moves_the_clock() -> None:
    world, fired = scheduler(), []
    world.cancel(world.at(5 * SECOND_NS, fired.append, "cancelled"))
    world.at(SECOND_NS, fired.append, "first")
    world.at(2 * SECOND_NS, world.stop)
    world.run()
    assert fired == ["first"]
    assert world.now_ns == 2 * SECOND_NS


def test_switching_takes_time_so_tasks_that_never_wait_come_to_an_end() -> None:
    world, owner = Scheduler(Random(1), EventLog(), step_ns=50_000), Owner("p")

    def hand_to_and_fro() -> None:
        while True:
            world.give_way()

    for name in ("one", "other"):
        world.spawn(owner, name, hand_to_and_fro)
    world.run(until_ns=BUSY_STEPS * 50_000)
    assert world.events.steps == BUSY_STEPS


def test_a_busy_process_is_slowed_down_and_no_other_one_is() -> None:
    world, busy, other = Scheduler(Random(1), EventLog(), step_ns=50_000), Owner("busy"), Owner("other")
    steps = {busy: 0, other: 0}

    def count(owner: Owner) -> None:
        steps[owner] += 1

    def spin() -> None:
        while True:
            world.give_way()

    def work() -> None:
        while True:
            world.park(world.now_ns + SECOND_NS // 50)

    world.after_step = count
    world.spawn(busy, "spinning", spin)
    world.spawn(other, "working", work)
    world.run(until_ns=10 * SECOND_NS)
    assert 10 * BUSY_STEPS < steps[busy] < 10 * SECOND_NS // 50_000 // 10
    assert 400 < steps[other] < 500
