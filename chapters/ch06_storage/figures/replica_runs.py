"""Recorded runs of replicas whose fetches are made by hand: HW and LEO, the ISR, truncation. Book 6.2.2."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_learn.recording.cluster_watches import ZOOKEEPER, watch_fetches, watch_isr
from kafka_learn.recording.offset_watches import watch_offsets
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording, Watch
from kafka_learn.recording.replicas_by_hand import ReplicasByHand

LAG_S = 11


def _recorded(
    name: str,
    title: str,
    watches: Sequence[Watch],
    scene: Callable[[ReplicasByHand, Recording], None],
    *,
    lanes: tuple[str, ...] = (),
    protocol: str = "",
) -> RecordedRun:
    brokers = ("broker 1", "broker 2", "broker 3")
    with Recording(watches, title=title, paused=True) as recording, ReplicasByHand(protocol=protocol) as replicas:
        scene(replicas, recording)
    return recording.run.recorded_in(__name__, name, lanes=(*lanes, *brokers))


def two_fetch_rounds() -> RecordedRun:
    """One record, two followers, two rounds: the first copies it, the second commits it."""

    def scene(replicas: ReplicasByHand, recording: Recording) -> None:
        replicas.lead(1)
        for follower in (2, 3):
            replicas.fetch(follower)
        with recording.running():
            replicas.produce("a")
            for follower in (2, 3, 2, 3, 2):
                replicas.fetch(follower)

    watches = [*watch_offsets(), *watch_fetches(responses=True)]
    return _recorded("two_fetch_rounds", "HW and LEO over two rounds of fetches", watches, scene)


def isr_shrinks_and_expands() -> RecordedRun:
    """Broker 3 does not fetch, leaves the ISR, and the record is committed without it. Then it catches up."""

    def scene(replicas: ReplicasByHand, recording: Recording) -> None:
        replicas.lead(1)
        for follower in (2, 3):
            replicas.fetch(follower)
        with recording.running():
            replicas.produce("a")
            for _ in range(2):
                replicas.fetch(2)
            recording.note("nothing from broker 3 for more than replica.lag.time.max.ms")
            replicas.advance(LAG_S)
            for _ in range(2):
                replicas.fetch(3)

    watches = [*watch_offsets(), *watch_fetches(), *watch_isr()]
    title = "A follower leaves the ISR and comes back"
    return _recorded("isr_shrinks_and_expands", title, watches, scene, lanes=(ZOOKEEPER,))


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "two-fetch-rounds": two_fetch_rounds,
    "isr-shrinks-and-expands": isr_shrinks_and_expands,
}
