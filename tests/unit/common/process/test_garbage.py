"""Nothing is collected in a block without collections, nor by CPython where a thread of ours collects."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from kafka_lite.common.process import garbage
from kafka_lite.common.process.garbage import (
    KEPT_BYTES,
    MAX_SKIPPED,
    MAX_YOUNG,
    MIN_GROWN,
    MIN_YOUNG,
    PERIOD_MS,
    PERIODS_BETWEEN_RETURNS,
    GarbageCollector,
    without_collections,
)


@pytest.fixture(autouse=True)
def enabled_as_before() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.enable()
    yield
    assert gc.isenabled()
    if not was_enabled:
        gc.disable()


def test_blocks_may_overlap() -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with without_collections():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with without_collections():
        thread.start()
        entered.wait()
    assert not gc.isenabled(), "the other block has not ended"
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_a_block_that_fails_ends() -> None:
    with pytest.raises(KeyError), without_collections():
        raise KeyError
    assert gc.isenabled()


def test_cpython_does_not_collect_beside_the_collector_whatever_block_ends_meanwhile() -> None:
    with without_collections():  # such as that of a controller which is still at its election when the broker is ready
        collector = GarbageCollector().__enter__()
    assert not gc.isenabled()
    with without_collections():
        pass
    assert not gc.isenabled()
    with without_collections():
        collector.__exit__()
        assert not gc.isenabled()
    assert gc.isenabled(), "the collector is gone"
    assert not collector.is_alive()


def test_the_collector_works_once_a_second_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    collector, pauses, collected = GarbageCollector(), list[float](), list[int]()
    stopped = iter([False, False, True])
    monkeypatch.setattr(collector, "pause", lambda ms: (pauses.append(ms), next(stopped))[1])
    monkeypatch.setattr(collector, "collect", lambda: collected.append(1))
    for _ in range(3):
        collector.do_work()
    assert (pauses, collected) == ([PERIOD_MS] * 3, [1, 1])
    assert collector.name == "garbage-collector"


class Collections:
    """Stands for the module gc: ``young`` new objects, of ``live``; notes what is collected."""

    def __init__(self) -> None:
        self.young, self.live, self.garbage = 0, 100, 0
        self.collected: list[int] = []

    def get_count(self) -> tuple[int, int, int]:
        return self.young, 0, 0

    def get_objects(self) -> range:
        return range(self.live)

    def collect(self, generation: int = 2) -> int:
        self.collected.append(generation)
        return self.garbage


@pytest.fixture
def collections(monkeypatch: pytest.MonkeyPatch) -> Collections:
    found = Collections()
    for name in ("get_count", "get_objects", "collect"):
        monkeypatch.setattr(gc, name, getattr(found, name))
    return found


def test_few_new_objects_are_not_visited(collections: Collections) -> None:
    collector = GarbageCollector()
    collections.young = MIN_YOUNG - 1
    assert collector.collect() is None
    collections.young = MIN_YOUNG
    assert collector.collect() == 0
    assert collections.collected == [0]


def test_all_objects_are_visited_when_there_are_many_more(collections: Collections) -> None:
    collector = GarbageCollector()
    collections.young, collections.live = MIN_GROWN // 2, MIN_GROWN * 8
    assert [collector.collect() for _ in range(4)] == [0, 0, 2, 0]
    assert [collector.collect() for _ in range(4)] == [0, 0, 0, 2], "a quarter more than there were"


def test_objects_that_were_garbage_do_not_count(collections: Collections) -> None:
    collector = GarbageCollector()
    collections.young = collections.garbage = 10 * MIN_GROWN
    assert [collector.collect() for _ in range(3)] == [0, 0, 0]


def test_very_many_new_objects_are_collected_beside_large_work(collections: Collections) -> None:
    collections.young = MAX_YOUNG
    with without_collections():
        assert GarbageCollector().collect() == 2
    assert collections.collected == [0, 2]


def test_a_collection_waits_for_large_work_but_not_for_ever(collections: Collections) -> None:
    collector = GarbageCollector()
    collections.young = MIN_YOUNG
    with without_collections():
        assert [collector.collect() for _ in range(2 * MAX_SKIPPED + 2)] == 2 * ([None] * MAX_SKIPPED + [0])
        assert collector.collect() is None
    assert [collector.collect(), collector.collect()] == [None, 0], "more of such work may follow"


def test_a_collection_waits_between_large_works(collections: Collections) -> None:
    """Each ends before the collector looks, and the next one begins after that."""
    with without_collections():
        pass
    collector = GarbageCollector()
    collections.young = MIN_YOUNG
    assert collector.collect() == 0, "what was before the collector does not count"
    outcomes = []
    for _ in range(MAX_SKIPPED + 2):
        with without_collections():
            pass
        outcomes.append(collector.collect())
    assert outcomes == [None] * MAX_SKIPPED + [0, None]


def test_free_memory_is_returned_when_much_more_is_resident(monkeypatch: pytest.MonkeyPatch) -> None:
    resident, returned = [100], []

    def give_back() -> bool:
        returned.append(resident[0])
        resident[0] = 150
        return True

    monkeypatch.setattr(garbage, "resident_bytes", lambda: resident[0])
    monkeypatch.setattr(garbage, "return_freed_memory", give_back)
    collector = GarbageCollector()

    def periods() -> None:
        for _ in range(PERIODS_BETWEEN_RETURNS):
            collector.collect()

    resident[0] = 100 + KEPT_BYTES
    periods()
    assert returned == []
    resident[0] += 1
    for _ in range(PERIODS_BETWEEN_RETURNS - 1):
        collector.collect()
    assert returned == []
    collector.collect()
    assert returned == [KEPT_BYTES + 101]
    periods()
    assert len(returned) == 1, "what is resident now is needed"
