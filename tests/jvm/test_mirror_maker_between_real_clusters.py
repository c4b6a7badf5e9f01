"""Our MirrorMaker between two clusters of which one or both are real ones of 0.10.2.2.

The broker of either side is killed with kill -9, and so is the tool; the networks to both sides are cut. Nothing is
lost, each key's records keep their order, and no more come twice than were not committed when something went wrong.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from kafka_lite.common.properties import dump_properties
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.eventually import eventually
from tests.support.far_clusters import OURS, FarCluster
from tests.support.mirrored_records import check_complete, new_consumer, old_consumer, publish
from tests.support.patience import patient_s
from tests.support.real_kafka import OLD

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.nightly, pytest.mark.timeout(600)]

TOPIC, PARTITIONS, COPIES = "t", 4, 3
SESSION_TIMEOUT_MS = "6000"
STEP = 300


class Course:
    """Two clusters, a mirror between them, what was published, and how many records may come twice."""

    def __init__(self, stack: ExitStack, folder: Path, source: str, target: str, reads_with: str) -> None:
        self._stack, self._folder, self._reads_with = stack, folder, reads_with
        self.source = FarCluster(source, folder / "source")
        self.target = FarCluster(target, folder / "target")
        for cluster, partitions in ((self.source, PARTITIONS), (self.target, COPIES)):
            stack.enter_context(cluster.running())
            cluster.create(TOPIC, partitions)
        self.published = self.may_come_twice = 0

    def start_mirror(self) -> subprocess.Popen[bytes]:
        if self._reads_with == "new":
            consumer = new_consumer(self.source, "mirror") | {"session.timeout.ms": SESSION_TIMEOUT_MS}
        else:
            consumer = old_consumer(self.source, "mirror") | {"zookeeper.session.timeout.ms": SESSION_TIMEOUT_MS}
        producer = {"bootstrap.servers": self.target.bootstrap_servers, "request.timeout.ms": "3000"}
        flags = ["--whitelist", TOPIC, "--offset.commit.interval.ms", "100", "--num.streams", "2"]
        for name, properties in (("consumer", consumer), ("producer", producer)):
            path = self._folder / f"{name}.properties"
            path.write_text(dump_properties(properties))
            flags += [f"--{name}.config", str(path)]
        with (self._folder / "mirror.log").open("ab") as log:
            command = [sys.executable, "-m", "kafka_lite.tools.main", "mirror-maker", *flags]
            process = subprocess.Popen(command, stdout=log, stderr=log)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def publish(self) -> None:
        publish(self.source, TOPIC, range(self.published, self.published + STEP))
        self.published += STEP

    def await_all(self) -> None:
        """Wait until the target has everything that was published."""

        def arrived() -> bool:
            with suppress(KafkaException):  # a broker that starts does not lead yet
                return len({record.value for record in self.target.stored(TOPIC)}) == self.published
            return False

        eventually(arrived, lambda: (self._folder / "mirror.log").read_text()[-3000:], timeout_s=120)

    @contextmanager
    def something_wrong(self) -> Iterator[None]:
        """What is not committed when something goes wrong, or is published meanwhile, may be copied again."""
        committed = self._committed()
        yield
        self.await_all()
        self.may_come_twice += self.published - committed

    def _committed(self) -> int:
        partitions = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        if self._reads_with == "new":
            servers = self.source.bootstrap_servers
            with KafkaConsumer({"bootstrap.servers": servers, "group.id": "mirror"}) as consumer:
                return sum(each.offset for each in consumer.committed(partitions).values() if each is not None)
        zk = KafkaZkClient(self.source.zookeeper_connect)
        zk.start()
        try:
            return sum(ConsumerGroups(zk).get_offset("mirror", partition) or 0 for partition in partitions)
        finally:
            zk.close()


@pytest.mark.parametrize(
    ("source", "target", "reads_with"),
    [(OLD, OLD, "new"), (OLD, OLD, "old"), (OLD, OURS, "new"), (OLD, OURS, "old"), (OURS, OLD, "new")],
)
def test_nothing_is_lost(source: str, target: str, reads_with: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        course = Course(stack, tmp_path, source, target, reads_with)
        mirror = course.start_mirror()
        course.publish()
        course.await_all()
        with course.something_wrong():
            course.target.brokers[0].kill()
            course.publish()
            course.target.start_broker()
        with course.something_wrong():
            course.publish()
            course.source.brokers[0].kill()
            course.source.start_broker()
            course.publish()
        with course.something_wrong(), course.source.cut():
            eventually(is_over(seconds=4))
        with course.something_wrong():
            with course.target.cut():
                course.publish()
                eventually(is_over(seconds=4))
                mirror.kill()
                mirror.wait()
            mirror = course.start_mirror()
            course.publish()
        twice = check_complete(course.target.stored(TOPIC), course.published)
        print(f"{twice} of {course.published} records came twice, at most {course.may_come_twice} might have")
        assert twice <= course.may_come_twice
        mirror.terminate()
        assert mirror.wait(patient_s(60)) == 143


def is_over(seconds: float) -> Callable[[], bool]:
    """Whether some time has passed: requests of the mirror have timed out."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end
