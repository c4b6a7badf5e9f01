"""Recorded runs of delayed operations: what completes them, which events could be missed, and how they expire.

Only the first has a part of a broker around it: its ``ReplicaManager`` and logs. Where two
threads meet at a bad moment, the run holds one of them there (``_Held``), so that the moment is in every recording.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chapters.ch06_storage.figures.log_drawings import record_set
from chapters.ch06_storage.figures.purgatory_drawings import NamedOperation
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording, Watch
from kafka_learn.recording.watches import watch
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.purgatory.delayed_operation import REAPER_WAIT_MS, DelayedOperation, DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.purgatory.timing_wheel import TimingWheel
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrPartitionState, LeaderAndIsrRequest
from kafka_lite.server.delayed_produce import DelayedProduce
from kafka_lite.server.fetch_params import FetchParams, FetchPartition
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.testing.replica_managers import new_replica_manager, new_replica_state_changes

_WAIT_S = 60.0
PARTITION = TopicPartition("demo", 0)
LEADER, FOLLOWER = 1, 2


def _in_thread(name: str, work: Callable[[], object]) -> threading.Thread:
    """Begin something in a thread of its own, which gives it a lane of its own."""
    thread = threading.Thread(target=work, name=name)
    thread.start()
    return thread


def _recorded(
    name: str, title: str, watches: list[Watch], lanes: tuple[str, ...], scene: Callable[[], object]
) -> RecordedRun:
    with Recording(watches, title=title) as recording:
        scene()
    return recording.run.recorded_in(__name__, name, lanes=lanes)


# -- acks=all --------------------------------------------------------------------------------------------------------


@contextmanager
def _leader_with_a_follower() -> Iterator[ReplicaManager]:
    """The replica manager of broker 1, which leads demo-0 with broker 2 in sync."""
    time = MockTime()
    scheduler = MockScheduler(time)
    with tempfile.TemporaryDirectory() as folder:
        logs = LogManager([Path(folder)], {}, LogConfig(), scheduler, time)
        logs.startup()
        config = KafkaConfig({"broker.id": str(LEADER), "zookeeper.connect": "embedded", "log.dirs": folder})
        replicas = new_replica_manager(config, logs, scheduler, time)
        replicas.startup()
        state = LeaderAndIsrPartitionState(
            topic_name=PARTITION.topic, partition_index=PARTITION.partition, controller_epoch=1, leader=LEADER,
            leader_epoch=0, isr=[LEADER, FOLLOWER], partition_epoch=0, replicas=[LEADER, FOLLOWER], is_new=True,
        )  # fmt: skip
        new_replica_state_changes(replicas, LogConfig()).become_leader_or_follower(
            LeaderAndIsrRequest(controller_id=LEADER, controller_epoch=1, ungrouped_partition_states=[state])
        )
        try:
            yield replicas
        finally:
            replicas.shutdown()
            logs.shutdown()


def produce_waits_for_a_follower() -> RecordedRun:
    """The thread that serves the follower's second fetch completes a produce request with ``acks=all``."""
    watches = [
        *watch(ReplicaManager.append_records, show=("required_acks",)),
        *watch(ReplicaManager.fetch_messages, show=("fetch_infos",)),
        *watch(
            DelayedOperationPurgatory.try_complete_else_watch, show=("watch_keys",), who="DelayedOperationPurgatory"
        ),
        *watch(DelayedOperationPurgatory.check_and_complete, show=("key",), who="DelayedOperationPurgatory"),
        *watch(
            Partition.update_follower_log_end_offset,
            show=lambda call: {"log_end_offset": call.argument("log_end_offset").message_offset},
        ),
        *watch(DelayedProduce.try_complete, DelayedProduce.on_complete),
    ]
    handlers = ("producer's handler", "follower's handler")
    lanes = (*handlers, "ReplicaManager", "Partition", "DelayedOperationPurgatory", "DelayedProduce")

    def scene(replicas: ReplicaManager) -> None:
        records = record_set((b"k", b"v"))

        def produce() -> None:
            replicas.append_records(30_000, -1, False, {PARTITION: records}, lambda _response: None)

        def fetch_twice() -> None:
            params = FetchParams(FOLLOWER, 0, 1, 1 << 20, hard_max_bytes=False)
            for offset in (0, 1):
                replicas.fetch_messages(params, [(PARTITION, FetchPartition(offset, 1 << 20))], lambda _response: None)

        for name, work in zip(handlers, (produce, fetch_twice), strict=True):
            _in_thread(name, work).join()

    with _leader_with_a_follower() as replicas:
        return _recorded(
            "produce_waits_for_a_follower", "acks=all waits for a follower", watches, lanes, lambda: scene(replicas)
        )


# -- two threads at a bad moment -------------------------------------------------------------------------------------


class _Held(NamedOperation):
    """Its check number ``held_look`` takes long: it has seen the state, and is held before it returns."""

    def __init__(self, held_look: int) -> None:
        super().__init__("held")
        self.has_looked = threading.Event()
        self.go_on = threading.Event()
        self._held_look = held_look
        self._looks = 0

    def try_complete(self) -> bool:
        """Check, and return what was seen, though it may be out of date by then."""
        self._looks += 1
        ready = self.ready
        if self._looks == self._held_look:
            self.has_looked.set()
            self.go_on.wait(_WAIT_S)
        return ready and self.force_complete()


def _operation_watches() -> list[Watch]:
    return [
        *watch(DelayedOperationPurgatory.try_complete_else_watch, show=("watch_keys",)),
        *watch(DelayedOperationPurgatory._watch, DelayedOperationPurgatory.check_and_complete, show=("key",)),
        *watch(DelayedOperation.safe_try_complete, who="Operation"),
        *watch(_Held.try_complete, who="Operation"),
        *watch(NamedOperation.on_complete, who="Operation"),
    ]


def event_between_try_and_lists() -> RecordedRun:
    """The event comes after the first check and before the operation is on a list: only the second check sees it."""
    purgatory: DelayedOperationPurgatory[_Held] = DelayedOperationPurgatory(
        "demo", reaper_enabled=False, time=MockTime()
    )
    operation = _Held(held_look=1)

    def event() -> None:
        operation.has_looked.wait(_WAIT_S)
        operation.ready = True
        purgatory.check_and_complete("t-0")
        operation.go_on.set()

    def scene() -> None:
        other = _in_thread("event", event)
        _in_thread("request", lambda: purgatory.try_complete_else_watch(operation, ["t-0"])).join()
        other.join()

    lanes = ("request", "event", "DelayedOperationPurgatory", "Operation")
    title = "An event between the look and the list"
    return _recorded("event_between_try_and_lists", title, _operation_watches(), lanes, scene)


def note_for_the_one_who_checks() -> RecordedRun:
    """Two events: while the first thread's check takes long, the second thread leaves a note, and continues."""
    purgatory: DelayedOperationPurgatory[_Held] = DelayedOperationPurgatory(
        "demo", reaper_enabled=False, time=MockTime()
    )
    operation = _Held(held_look=3)  # the first two are those of try_complete_else_watch
    purgatory.try_complete_else_watch(operation, ["t-0"])

    def second_event() -> None:
        operation.has_looked.wait(_WAIT_S)
        operation.ready = True
        purgatory.check_and_complete("t-0")
        operation.go_on.set()

    def scene() -> None:
        second = _in_thread("event 2", second_event)
        _in_thread("event 1", lambda: purgatory.check_and_complete("t-0")).join()
        second.join()

    lanes = ("event 1", "event 2", "DelayedOperationPurgatory", "Operation")
    title = "Two threads check one operation"
    return _recorded("note_for_the_one_who_checks", title, _operation_watches(), lanes, scene)


# -- time ------------------------------------------------------------------------------------------------------------


def operation_expires() -> RecordedRun:
    """An operation of 30 ms on wheels of 20 buckets: it moves down from the second wheel, and expires.

    The thread ``reaper`` does what ``ExpiredOperationReaper.do_work`` does; the clock is one that jumps.
    """
    time = MockTime()
    purgatory: DelayedOperationPurgatory[NamedOperation] = DelayedOperationPurgatory(
        "demo", reaper_enabled=False, time=time
    )
    watches = [
        *watch(DelayedOperationPurgatory.try_complete_else_watch, show=("watch_keys",)),
        *watch(DelayedOperationPurgatory.advance_clock, show=("timeout_ms",)),
        *watch(SystemTimer.add, show=()),
        *watch(SystemTimer.advance_clock, show=("timeout_ms",)),
        *watch(TimingWheel.add, show=lambda call: {"due": call.argument("entry").expiration_ms, **_tick(call.subject)}),
        *watch(
            TimingWheel.advance_clock, show=lambda call: {"time_ms": call.argument("time_ms"), **_tick(call.subject)}
        ),
        *watch(NamedOperation.on_complete, NamedOperation.on_expiration, who="Operation"),
    ]
    lanes = ("request", "reaper", "DelayedOperationPurgatory", "SystemTimer", "TimingWheel", "Operation")

    def reap() -> None:
        while purgatory.delayed:
            purgatory.advance_clock(REAPER_WAIT_MS)

    def scene() -> None:
        operation = NamedOperation("expires", 30)
        _in_thread("request", lambda: purgatory.try_complete_else_watch(operation, ["t-0"])).join()
        _in_thread("reaper", reap).join()

    return _recorded("operation_expires", "The time is up", watches, lanes, scene)


def _tick(wheel: TimingWheel) -> dict[str, int]:
    return {"tick": wheel.tick_ms}


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "produce-waits-for-a-follower": produce_waits_for_a_follower,
    "event-between-try-and-lists": event_between_try_and_lists,
    "note-for-the-one-who-checks": note_for_the_one_who_checks,
    "operation-expires": operation_expires,
}
