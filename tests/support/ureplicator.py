"""uReplicator's controllers on a ZooKeeper in memory, with a MockTime as clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.ureplicator.controller.auto_rebalance_live_instance_change_listener import (
    AutoRebalanceLiveInstanceChangeListener,
)
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from kafka_lite.mirror.ureplicator.controller.kafka_broker_topic_observer import KafkaBrokerTopicObserver
from kafka_lite.zookeeper.data import TopicAssignment
from tests.support.eventually import eventually
from tests.support.helix_zookeeper import FakeSession, SharedTree

UR = PropertyPaths("ur")
DELAY_S = 120


class SharedScheduler:
    """A MockScheduler that several threads give tasks to."""

    def __init__(self, time: MockTime) -> None:
        self._time = time
        self._entered: deque[tuple[str, Callable[[], None], float, float]] = deque()
        time.add_listener(self._hand_over)
        self._inner = MockScheduler(time)
        self.startup, self.shutdown = self._inner.startup, self._inner.shutdown

    def schedule(self, name: str, task: Callable[[], None], delay_ms: float = 0, period_ms: float = -1) -> None:
        self._entered.append((name, task, self._time.hi_res_ms() + delay_ms, period_ms))

    def _hand_over(self) -> None:
        while self._entered:
            name, task, due_ms, period_ms = self._entered.popleft()
            self._inner.schedule(name, task, due_ms - self._time.hi_res_ms(), period_ms)


class FakeTopics:
    """The topics of a Kafka cluster, with their numbers of partitions. A change is told to those that watch."""

    def __init__(self, **topics: int) -> None:
        self.topics = dict(topics)
        self.reads: list[list[str]] = []
        self._callback: Callable[[], None] = lambda: None

    def get_all_topics(self) -> list[str]:
        return sorted(self.topics)

    def get_topic_assignments(self, topics: Iterable[str]) -> dict[str, TopicAssignment]:
        self.reads.append(list(topics))
        return {
            topic: TopicAssignment({number: [0] for number in range(self.topics[topic])}) for topic in self.reads[-1]
        }

    def watch_topics(self, callback: Callable[[], None]) -> None:
        self._callback = callback

    def create(self, topic: str, partitions: int) -> None:
        self.topics[topic] = partitions
        self._callback()

    def delete(self, topic: str) -> None:
        del self.topics[topic]
        self._callback()


class Controller:
    """A controller process without its REST interface."""

    def __init__(self, tree: SharedTree, name: str, time: MockTime, scheduler: SharedScheduler) -> None:
        own: Any = FakeSession(tree)
        helix: Any = FakeSession(tree)
        self.helix_session: FakeSession = helix
        self.manager = HelixMirrorMakerManager(ZKHelixDataAccessor(own, UR), ZKHelixDataAccessor(helix, UR), name, time)
        self.listener = AutoRebalanceLiveInstanceChangeListener(self.manager, scheduler, DELAY_S)

    def start(self) -> None:
        self.manager.start()
        self.listener.start()

    def die(self) -> None:
        """As after kill -9, when its session has ended."""
        self.manager.stop()
        self.helix_session.end_session()


class FakeMirror:
    """Controllers, and workers that only live and die: nobody takes their messages."""

    def __init__(self) -> None:
        self.tree = SharedTree()
        self.time = MockTime()
        self.scheduler = SharedScheduler(self.time)
        self.controllers: list[Controller] = []
        self._workers: dict[str, FakeSession] = {}

    def start_controller(self, name: str = "c1") -> Controller:
        controller = Controller(self.tree, name, self.time, self.scheduler)
        self.controllers.append(controller)
        controller.start()
        eventually(lambda: controller.manager.accessor.get(UR.leader) is not None)
        return controller

    def start_worker(self, name: str) -> None:
        session: Any = FakeSession(self.tree)
        self._workers[name] = session
        accessor = ZKHelixDataAccessor(session, UR)
        assert accessor.create_ephemeral(UR.live_instance(name), LiveInstance.of(name, accessor.session, "1@w").record)

    def kill_worker(self, name: str) -> None:
        self._workers.pop(name).end_session()

    def observe(self, topics: FakeTopics) -> KafkaBrokerTopicObserver:
        """An observer that has read the topics."""
        observer = KafkaBrokerTopicObserver("fake", topics, self.scheduler, self.time)
        observer.start()
        self.pass_s(0)
        return observer

    def pass_s(self, seconds: float) -> None:
        self.time.sleep(seconds * 1000)

    def close(self) -> None:
        for controller in self.controllers:
            controller.manager.stop()


@contextmanager
def fake_mirror() -> Iterator[FakeMirror]:
    mirror = FakeMirror()
    try:
        yield mirror
    finally:
        mirror.close()


def owners(manager: HelixMirrorMakerManager) -> dict[str, str]:
    """``{"t": "121-"}``: the numbers of the workers of t's partitions in the ideal state; a dash: nobody has it."""
    return {
        topic: "".join(
            "".join(name.removeprefix("w") for name in state.instance_states(str(number)) or ()) or "-"
            for number in range(state.num_partitions)
        )
        for topic, state in manager.ideal_states().items()
    }
