"""What the tests of this lab share: a ZooKeeper, and members of a group that do what a test says.

ZooKeeper is a real server, in this process; members have sessions and znodes of their own. What stands around the
ZKRebalancerListener is real too, but for fetchers and streams: these only note what is done to them.
"""

import itertools
import threading

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_offsets import ConsumerOffsets
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk
from kafka_lite.old_consumer.rebalance.zk_rebalancer_listener import ConsumerRebalanceFailedError, ZKRebalancerListener
from kafka_lite.old_consumer.topic_count import ConsumerThreadId, StaticTopicCount
from kafka_lite.server.broker_process import free_port
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.data import BrokerRegistration, TopicAssignment
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

TOPIC = "t"
GROUP = "g"
PARTITIONS = 4
BROKER = BrokerRegistration(("PLAINTEXT://127.0.0.1:9092",))


class Fetcher:
    """Replaces the ConsumerFetcherManager."""

    def __init__(self, note):
        self._note = note
        self.fetching = []
        """The partitions that are fetched now."""

    def stop_connections(self):
        self._note("fetchers stop")
        self.fetching = []

    def start_connections(self, infos):
        self._note("fetchers start")
        self.fetching = [info.partition_id for info in infos]


class Queue(FetchedDataQueue[FetchedDataChunk]):
    """A queue that records when it is cleared."""

    def __init__(self, note):
        super().__init__(2)
        self._note = note

    def clear(self):
        self._note("queues are emptied")
        super().clear()


class Stream:
    """Replaces a KafkaStream."""

    def __init__(self, note):
        self._note = note

    def clear(self):
        self._note("streams are emptied")


class Offsets(ConsumerOffsets):
    """The offsets, in ZooKeeper; records when they are committed and read."""

    def __init__(self, note, *args):
        super().__init__(*args)
        self._note = note
        self.failures = []
        """What the next reads do instead of reading, one after the other: raise this, or return None."""

    def commit_offsets(self, offsets, retry_on_failure):
        self._note("commit")
        return super().commit_offsets(offsets, retry_on_failure)

    def fetch_offsets(self, partitions):
        self._note("offsets are read")
        if not self.failures:
            return super().fetch_offsets(partitions)
        failure = self.failures.pop(0)
        if failure is not None:
            raise failure
        return None


class Groups(ConsumerGroups):
    """The znodes; records what is claimed and released."""

    def __init__(self, note, zk):
        super().__init__(zk)
        self._note = note

    def create_owner(self, *args):
        self._note("claim")
        return super().create_owner(*args)

    def release_owner(self, *args):
        self._note("release")
        return super().release_owner(*args)


class Listener:
    """A user's listener: records its calls, and the owners at that moment."""

    def __init__(self, group, errors=()):
        self._group = group
        self._errors = list(errors)
        self.released = []
        self.owners = []
        self.assigned = []

    def before_releasing_partitions(self, partition_ownership):
        self.released.append({topic: set(numbers) for topic, numbers in partition_ownership.items()})
        self.owners.append(self._group.owners())
        if self._errors:
            raise self._errors.pop(0)

    def before_starting_fetchers(self, _consumer_id, partition_assignment):
        self.assigned.append({number: str(thread) for number, thread in partition_assignment[TOPIC].items()})


class Member:
    """A member of the group: your ZKRebalancerListener with its own session, registered for the topic."""

    def __init__(self, group, name, *, threads=1, **configs):
        self.id = f"{GROUP}_{name}"
        self.steps = []
        """The steps, in order; several equal ones in a row count as one."""
        settings = {"group.id": GROUP, "zookeeper.connect": group.connect, "rebalance.backoff.ms": 0}
        config = ConsumerConfig({**settings, **{key.replace("_", "."): value for key, value in configs.items()}})
        self.zk = group.session()
        stats = ConsumerStats(config)
        self.is_shutting_down = threading.Event()
        self.fetcher = Fetcher(self._note)
        self.offsets = Offsets(self._note, config, self.zk, stats, self.is_shutting_down)
        self.listener = ZKRebalancerListener(
            config, self.id, self.zk, self.fetcher, self.offsets, stats, self.is_shutting_down
        )
        self.listener._groups = Groups(self._note, self.zk)
        self.threads = [ConsumerThreadId(self.id, number) for number in range(threads)]
        self.listener.queues = {(TOPIC, thread): Queue(self._note) for thread in self.threads}
        self.listener.streams = {TOPIC: [Stream(self._note) for _ in self.threads]}
        self._group = group
        self._attempts = []
        self._rebalance, self.listener._rebalance = self.listener._rebalance, self._attempt
        registration = StaticTopicCount(self.id, {TOPIC: threads}).registration(0)
        self.listener._groups.register_consumer(GROUP, self.id, registration)

    def _note(self, step):
        if self.steps[-1:] != [step]:
            self.steps.append(step)

    def wants(self, *numbers):
        """The assignment of the first thread."""
        return {TopicPartition(TOPIC, number): self.threads[0] for number in numbers}

    def owns(self, offsets):
        """Make it the owner of partitions, ``{number: consumed up to}``, znodes included; -1: unknown."""
        mine = self.wants(*offsets)
        at = {partition: offsets[partition.partition] for partition in mine}
        self.listener.topic_registry = self.listener._new_registry(mine, at)
        for partition, thread in mine.items():
            assert self.listener._groups.create_owner(GROUP, partition, str(thread))
        self.steps.clear()
        return self

    @property
    def infos(self):
        """The partitions that it owns, by number."""
        return {info.partition_id: info for info in self.listener.owned_partitions()}

    def consume(self, offset):
        """Its streams return everything up to this offset, in all its partitions."""
        for info in self.infos.values():
            info.reset_fetch_offset(offset + 50)
            info.reset_consume_offset(offset)

    def _attempt(self):
        """_rebalance, and a record of its result or error: retries must not hide an error."""
        try:
            self._attempts.append(self._rebalance())
        except Exception as error:
            self._attempts.append(error)
            raise
        return self._attempts[-1]

    def rebalance(self):
        """Rebalance; returns what is fetched afterwards. AssertionError describes the attempts."""
        if self.fails():
            for outcome in self._attempts:
                if isinstance(outcome, Exception) and not isinstance(outcome, KafkaError | OSError):
                    raise outcome
            raise AssertionError(
                f"{self.id} has not got its partitions; its attempts returned {self._attempts}, and the "
                f"owners according to the znodes are {self._group.owners()}"
            )
        return self.fetcher.fetching

    def fails(self):
        """Rebalance; returns whether it failed with ConsumerRebalanceFailedError."""
        self._attempts.clear()
        try:
            self.listener.synced_rebalance()
        except ConsumerRebalanceFailedError:
            return True
        return False

    def die(self):
        """Its session expires."""
        self.zk.close()


class Group:
    """A group of members, a topic with four partitions and a broker, below a chroot of their own."""

    def __init__(self, connect):
        self.connect = connect
        self._sessions = []
        self.zk = KafkaZkClient(connect)
        self.zk.start(create_chroot=True)
        self._sessions.append(self.zk)
        self.zk.create_persistent_paths()
        self.zk.create_topic_assignment(TOPIC, TopicAssignment({number: [0] for number in range(PARTITIONS)}))
        self.znodes = ConsumerGroups(self.zk)
        self.broker_comes()

    def session(self):
        """Another session."""
        zk = KafkaZkClient(self.connect)
        zk.start()
        self._sessions.append(zk)
        return zk

    def member(self, name, **options):
        """A member joins; ``options``: ``threads``, and settings with underscores for dots."""
        return Member(self, name, **options)

    def owners(self):
        """The owner of each partition, according to the znodes."""
        return [self.znodes.get_owner(GROUP, TopicPartition(TOPIC, number)) for number in range(PARTITIONS)]

    def committed(self):
        """The committed offset of each partition, according to the znodes."""
        return [self.znodes.get_offset(GROUP, TopicPartition(TOPIC, number)) for number in range(PARTITIONS)]

    def broker_comes(self):
        """A broker registers."""
        self.zk.register_broker(0, BROKER)

    def broker_goes(self):
        """The broker's registration is deleted."""
        self.zk.zookeeper.delete("/brokers/ids/0")

    def close(self):
        for zk in reversed(self._sessions):
            zk.close()


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory):
    """A ZooKeeper in this process, empty at first."""
    with EmbeddedZooKeeper(tmp_path_factory.mktemp("zookeeper"), force_sync=False) as server:
        yield server


@pytest.fixture(scope="session")
def numbers():
    """1, 2, 3, …"""
    return itertools.count(1)


@pytest.fixture
def group(zookeeper, numbers):
    """A group without members; the topic t has four partitions."""
    group = Group(f"{zookeeper.connect_string}/test-{next(numbers)}")
    yield group
    group.close()


@pytest.fixture
def listener_class():
    """A user's rebalance listener."""
    return Listener


@pytest.fixture(scope="session")
def zookeeper_port():
    """The address of the real broker's own ZooKeeper."""
    return free_port()


@pytest.fixture(scope="session")
def broker_settings(zookeeper_port):
    """Old consumers need its ZooKeeper."""
    return {**GROUP_BROKER, "zookeeper.embedded.port": str(zookeeper_port)}
