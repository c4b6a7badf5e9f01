"""The scenarios of the simulator: brokers, clients and faults, all drawn from the seed.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Final, TypeVar

from kafka_lite.testing.simulation.cluster import REPLICATED
from kafka_lite.testing.simulation.connect.workload import GROUPS_STAY, ConnectWorkload
from kafka_lite.testing.simulation.faults import (
    CLUSTER,
    CONNECT,
    DAMAGING,
    HELIX,
    MIRRORS,
    ONE_BROKER,
    SCARCITY,
    SCARCITY_OF_ONE_BROKER,
    Fault,
    Kind,
    draw_faults,
)
from kafka_lite.testing.simulation.groups.workload import QUICK, GroupWorkload
from kafka_lite.testing.simulation.helix.workload import HelixWorkload
from kafka_lite.testing.simulation.invariants import Invariants
from kafka_lite.testing.simulation.mirror.workload import MirrorWorkload
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.scheduler import Owner, State, Task
from kafka_lite.testing.simulation.secured.workload import SECURED, SecuredWorkload
from kafka_lite.testing.simulation.shares.workload import ShareWorkload, share_properties
from kafka_lite.testing.simulation.streams.drawing import Drawing
from kafka_lite.testing.simulation.streams.drawn_workload import DrawnStreamsWorkload
from kafka_lite.testing.simulation.streams.programs import TEXT
from kafka_lite.testing.simulation.streams.workload import StreamsWorkload
from kafka_lite.testing.simulation.transactional_workload import TransactionalWorkload, transaction_properties
from kafka_lite.testing.simulation.workload import SETTLE_S, Result, Workload
from kafka_lite.testing.simulation.world import World

W = TypeVar("W", bound=Workload)

TRANSACTIONAL_EVERY: Final = 3
"""Every so many-th seed has transactions, if the scenario is mixed."""

GROWN_PARTITIONS: Final = 12
"""Partitions of a topic that gets more of them while it is altered. Their logs take time, in which the alteration may
arrive."""
GROWING, GROWN_REPLICATED = "growing", 4
"""The topic of three brokers that grows while it is read and written, and how many partitions topics get at most."""
ALTERED_S: Final = 0.03
"""How long after that begins the alteration begins, on average."""
FETCH_BYTES: Final = (200, 2_000, 1_048_576)
"""How many bytes a fetch returns per partition: a few records, or all of them."""
UNDISTURBED_S: Final = 15.0
"""How long a drawn application, or a group of workers, may run before anything goes wrong: then there is more to be
restored."""
SKEWS_NS: Final = (0, 10**8, 10**12)
"""How far wall clocks may be off: not at all, as with NTP, or by a quarter of an hour."""
VERSIONS_OF_0_10_2: Final = {"inter.broker.protocol.version": "0.10.2", "log.message.format.version": "0.10.2"}


def one_broker(world: World, kinds: Sequence[Kind] = ONE_BROKER) -> Result:
    """A broker with producers, groups, a compacted topic and topics that come and go, under drawn faults."""
    random = world.random_for("faults")
    drawn = draw_faults(random, kinds)
    _skew_clocks(world)
    work = Workload(world, _drawn_properties(random, drawn))
    work.cluster.start()
    _start_clients(work)
    for number, fault in world.suffered(drawn):
        topic = f"passing-{number}"
        if random.random() < 0.4:
            work.create_and_alter_topic(topic, 1 + number % 2)
        if grows := random.random() < 0.7 and topic in work.topics:
            work.add_partitions(topic, GROWN_PARTITIONS, random.expovariate(1 / ALTERED_S))
        work.suffer(fault)
        if topic in work.topics and not grows and random.random() < 0.7:
            work.delete_topic(topic)
    world.sleep(random.expovariate(0.2))
    return Result(work.history, work.finish(), drawn)


def mirrors(world: World) -> Result:
    """One to three MirrorMakers between two brokers, under drawn faults.

    Each run kills them once or twice while copies are not acknowledged: what they promise is about that moment.
    """
    random = world.random_for("faults")
    drawn = [*draw_faults(random, MIRRORS), *draw_faults(random, (Kind.KILL_MIRRORS,), most=2, shortness=1.0)]
    random.shuffle(drawn)
    _skew_clocks(world)
    work, draw = MirrorWorkload(world, _drawn_properties(random, drawn)), world.random_for("mirrors")
    work.cluster.start()
    load = Load("originals", draw.randint(1, 4), 10 ** draw.uniform(0.5, 1.5), draw.randint(1, 8), by_key=True)
    work.start_mirrors(draw.randint(1, 3), load, draw.randint(1, 4))
    world.sleep(draw.uniform(0, UNDISTURBED_S))
    for _, fault in world.suffered(drawn):
        work.suffer(fault)
    world.sleep(random.expovariate(0.2))
    return Result(work.history, work.finish(), drawn)


def helix(world: World) -> Result:
    """One to three controllers of Helix, and up to five participants, under drawn faults that overlap."""
    drawn, draw = draw_faults(world.random_for("faults"), HELIX, most=8, shortness=1.5), world.random_for("helix")
    _skew_clocks(world)
    work = HelixWorkload(world)
    work.start(draw.randint(1, 3), draw.randint(2, 5), 10 ** draw.uniform(-2, 0.7))
    world.sleep(draw.uniform(0, UNDISTURBED_S))
    return _suffer_at_once(work, drawn)


def transactions(world: World, kinds: Sequence[Kind] = ONE_BROKER) -> Result:
    """A broker with transactional producers and ``read_committed`` consumers, under drawn faults."""
    random = world.random_for("faults")
    drawn = draw_faults(random, _for_transactions(kinds))
    work = TransactionalWorkload(world, _drawn_properties(random, drawn) | transaction_properties(1))
    work.cluster.start()
    work.start_drawn_clients()
    for _, fault in world.suffered(drawn):
        work.suffer(fault)
    world.sleep(random.expovariate(0.2))
    return Result(work.history, work.finish(), drawn)


def three_brokers(world: World) -> Result:
    """Three brokers on one ZooKeeper, with replicated topics, under drawn faults that overlap."""
    return _suffer_at_once(*_cluster(world, 3))


def flipped_bits(world: World) -> Result:
    """Three brokers under drawn faults, on whose disks bits flip, too."""
    return _suffer_at_once(*_cluster(world, 3, kinds=DAMAGING))


def scarcity(world: World) -> Result:
    """Three brokers under drawn faults, which run out of descriptors and memory, too. Some seeds have transactions."""
    if world.seed % TRANSACTIONAL_EVERY:
        return _suffer_at_once(*_cluster(world, 3, kinds=SCARCITY))
    work, drawn = _transactional_cluster(world, TransactionalWorkload, SCARCITY)
    work.start_drawn_clients()
    return _suffer_at_once(work, drawn)


def scarcity_of_one_broker(world: World) -> Result:
    """A broker that runs out of descriptors and memory, its embedded ZooKeeper with it."""
    return (one_broker if world.seed % TRANSACTIONAL_EVERY else transactions)(world, SCARCITY_OF_ONE_BROKER)


def three_old_brokers(world: World) -> Result:
    """Three brokers that talk and store as those of 0.10.2: followers truncate to their high watermarks.

    They may lose what they have acknowledged, as before KIP-101; so no seed of ``make simulate`` has them.
    """
    return _suffer_at_once(*_cluster(world, 3, VERSIONS_OF_0_10_2))


def five_brokers(world: World) -> Result:
    """Five brokers, each of which has replicas of some partitions only."""
    return _suffer_at_once(*_cluster(world, 5))


def secured_three_brokers(world: World) -> Result:
    """Three brokers with TLS, SASL and access control lists, under drawn faults that overlap.

    Sessions end after seconds, so clients and brokers authenticate again all the time. Strangers never get anywhere.
    """
    random = world.random_for("faults")
    drawn = draw_faults(random, CLUSTER, most=8, shortness=1.5)
    _skew_clocks(world)
    work = SecuredWorkload(world, {**_drawn_properties(random, drawn), **SECURED}, 3)
    work.cluster.start()
    _watch_invariants(work)
    work.allow_alice()
    _start_clients(work)
    work.start_strangers("ours")
    return _suffer_at_once(work, drawn)


def modern_groups(world: World) -> Result:
    """Three brokers under drawn faults that overlap, and a group whose coordinator assigns (KIP-848).

    Up to half of its members begin with the classic protocol, and are upgraded meanwhile.
    """
    random, draw = world.random_for("faults"), world.random_for("groups")
    drawn = draw_faults(random, CLUSTER, most=8, shortness=1.5)
    _skew_clocks(world)
    work = GroupWorkload(world, {**_drawn_properties(random, drawn), **QUICK}, 3)
    work.cluster.start()
    _watch_invariants(work)
    members = draw.randint(2, 4)
    work.start_group(draw.randint(2, 6), members, draw.randint(0, members // 2))
    world.sleep(draw.uniform(0, UNDISTURBED_S))
    upgrading = world.in_background("upgrades", work.upgrade_members)
    return _end_of([upgrading, *(_begin(work, fault) for _, fault in world.suffered(drawn))], work, drawn)


def share_groups(world: World) -> Result:
    """Three brokers under drawn faults that overlap, and a share group (KIP-932): its members release some records and
    are late with others, and leaders and share coordinators change."""
    random, draw = world.random_for("faults"), world.random_for("shares")
    drawn = draw_faults(random, CLUSTER, most=8, shortness=1.5)
    _skew_clocks(world)
    work = ShareWorkload(world, {**_drawn_properties(random, drawn), **share_properties(3)}, 3)
    work.cluster.start()
    _watch_invariants(work)
    work.start_group(draw.randint(1, 3), draw.randint(1, 3))
    world.sleep(draw.uniform(0, UNDISTURBED_S))
    return _suffer_at_once(work, drawn)


def growing_topics(world: World) -> Result:
    """Three brokers under drawn faults that overlap, while topics are made, altered, given partitions and deleted.

    One of them is read and written all the time: its group must find the partitions that it gets.
    """
    work, drawn = _cluster(world, 3)
    work.create_topic(GROWING, 1)
    for number in range(2):
        work.consume(f"growing-consumer-{number}", "growing-group", GROWING, **{"metadata.max.age.ms": 3_000})
    work.produce("growing-producer-0", Load(GROWING, 1, 5))
    changing = world.in_background("topics", lambda: _change_topics(work))
    return _end_of([changing, *(_begin(work, fault) for _, fault in world.suffered(drawn))], work, drawn)


def _change_topics(work: Workload) -> None:
    """Beside the faults: each round changes a topic of its own, or lets ``GROWING`` grow."""
    random = work.world.random_for("topics")
    for number in range(random.randint(2, 6)):
        work.world.sleep(random.expovariate(0.3))
        if random.random() < 0.5 and work.topics[GROWING] < GROWN_REPLICATED:
            work.grow_topic(GROWING, work.topics[GROWING] + 1)
            load = Load(GROWING, work.topics[GROWING], 5)
            work.produce(f"growing-producer-{number + 1}", load, **{"max.block.ms": 600_000})
            continue
        work.create_and_alter_topic(topic := f"passing-{number}", 1 + number % 2)
        if random.random() < 0.5:
            work.add_partitions(topic, GROWN_REPLICATED, random.expovariate(1 / ALTERED_S))
        else:
            work.delete_topic(topic)


def _cluster(
    world: World,
    brokers: int,
    properties: Mapping[str, str] = MappingProxyType({}),
    kinds: Sequence[Kind] = CLUSTER,
) -> tuple[Workload, list[Fault]]:
    """Brokers and clients that have started, watched for invariants, and the faults that the seed draws for them."""
    random = world.random_for("faults")
    drawn = draw_faults(random, kinds, most=8, shortness=1.5)  # sessions and followers are given up after seconds
    _skew_clocks(world)
    work = Workload(world, _drawn_properties(random, drawn) | dict(properties), brokers)
    work.has_idempotence = not properties
    work.cluster.start()
    _watch_invariants(work)
    _start_clients(work)
    return work, drawn


def transactions_of_three_brokers(world: World) -> Result:
    """Transactions over three brokers, under drawn faults that overlap."""
    work, drawn = _transactional_cluster(world, TransactionalWorkload)
    work.start_drawn_clients()
    return _suffer_at_once(work, drawn)


def streams_of_three_brokers(world: World) -> Result:
    """An application of Streams that counts exactly once, under drawn faults of brokers and instances that overlap."""
    return _streams_cluster(world, "exactly_once")


def streams_v2_of_three_brokers(world: World) -> Result:
    """The same with ``exactly_once_v2``: the tasks of an instance share a producer, and generations fence zombies."""
    return _streams_cluster(world, "exactly_once_v2")


def _streams_cluster(world: World, guarantee: str) -> Result:
    work, drawn = _transactional_cluster(world, StreamsWorkload)
    work.guarantee = guarantee
    draw = work.random
    work.start_application(draw.randint(1, 3), draw.randint(1, 8), draw.randint(1, 3), 10 ** draw.uniform(0, 1))
    return _suffer_at_once(work, drawn)


def drawn_streams_of_three_brokers(world: World) -> Result:
    """An application of Streams with a drawn topology, and records that are out of order, under the same faults.

    What the topology makes of the records of a partition is determined by their order there alone. Late records are
    no exception: whether a window has expired depends on the latest window that a store has had a result for, and a
    store that is restored from its changelog has that again. (Stream time, which starts over with each task, decides
    when to punctuate, and which of several partitions a task reads next. There is neither here.)

    If results of keys are cached, those of each key may lack some, but not the last one.
    """
    work, drawn = _transactional_cluster(world, DrawnStreamsWorkload)
    draw = work.random
    drawing = Drawing.drawn(draw)
    load = Load(TEXT, draw.randint(1, 3), 10 ** draw.uniform(0.3, 1.3), draw.randint(1, 8), by_key=True)
    work.start_application(drawing, load, draw.randint(1, 3))
    world.sleep(draw.uniform(0, UNDISTURBED_S))
    return _suffer_at_once(work, drawn)


def connect(world: World) -> Result:
    """A broker and two or three workers of Connect, under drawn faults that overlap: links that are cut between any of
    them, kills, pauses, and tasks that fail."""
    random = world.random_for("faults")
    drawn = draw_faults(random, CONNECT, shortness=1.5)
    _skew_clocks(world)
    work = ConnectWorkload(world, _drawn_properties(random, drawn) | GROUPS_STAY)
    work.cluster.start()
    work.start_group(work.random.randint(2, 3))
    world.sleep(work.random.uniform(0, UNDISTURBED_S))
    return _suffer_at_once(work, drawn)


def _transactional_cluster(world: World, kind: type[W], kinds: Sequence[Kind] = CLUSTER) -> tuple[W, list[Fault]]:
    """Three brokers that have started, watched for invariants, and the faults that the seed draws for them."""
    random = world.random_for("faults")
    drawn = draw_faults(random, _for_transactions(kinds), most=8, shortness=1.5)
    work = kind(world, _drawn_properties(random, drawn) | transaction_properties(3), 3)
    work.cluster.start()
    _watch_invariants(work)
    return work, drawn


def _skew_clocks(world: World) -> None:
    """Not for transactions: a coordinator whose clock is behind that of its predecessor aborts them that late."""
    world.max_skew_ns = world.random_for("clocks").choice(SKEWS_NS)


def _for_transactions(kinds: Sequence[Kind]) -> list[Kind]:
    """The coordinator times transactions by the wall clock: one that is turned back an hour aborts them that late."""
    return [kind for kind in kinds if kind is not Kind.JUMP]


def _suffer_at_once(work: Workload | HelixWorkload, drawn: Sequence[Fault]) -> Result:
    """Faults that overlap."""
    return _end_of([_begin(work, fault) for _, fault in work.world.suffered(drawn)], work, drawn)


def _end_of(suffering: Sequence[Task], work: Workload | HelixWorkload, drawn: Sequence[Fault]) -> Result:
    """Wait until all faults have ended, and let the run come to its end."""
    world, random = work.world, work.world.random_for("faults")
    world.wait_until(lambda: all(task.state is State.ENDED for task in suffering), SETTLE_S, "the end of all faults")
    world.sleep(random.expovariate(0.2))
    return Result(work.history, work.finish(), drawn)


def _watch_invariants(work: Workload) -> None:
    """End the run as soon as an invariant is broken: after each step, the broker that made it is checked."""
    invariants, brokers = Invariants(), work.cluster.brokers

    def check(owner: Owner) -> None:
        for broker in brokers:
            if broker.process is not None and broker.process.owner is owner:
                if (server := broker.parts) is not None:
                    invariants.check(server)
                return

    work.world.scheduler.after_step = check
    work.history.count_copies, work.history.min_copies = invariants.copies, int(REPLICATED["min.insync.replicas"])


def _begin(work: Workload | HelixWorkload, fault: Fault) -> Task:
    """Let a thing go wrong. The next one may begin before it has ended."""
    task = work.world.in_background(fault.kind.name, lambda: work.suffer(fault))
    work.world.sleep(fault.after_s)
    return task


def _drawn_properties(random: Random, faults: Sequence[Fault]) -> dict[str, str]:
    properties = {
        "log.segment.bytes": str(int(10 ** random.uniform(3.5, 6))),
        "log.index.interval.bytes": str(random.choice((100, 4096))),
        "log.cleaner.backoff.ms": "1000",
        "log.cleaner.min.cleanable.ratio": "0.05",
        "log.segment.delete.delay.ms": "2000",
    }
    if any(fault.kind is Kind.POWER for fault in faults):
        properties["log.flush.interval.messages"] = "1"  # Kafka promises nothing about unflushed records
    return properties


def _start_clients(work: Workload) -> None:
    random = work.random
    partitions = random.randint(1, 3)
    work.create_topic("ours", partitions)
    for number in range(random.randint(1, 2)):
        work.produce(f"producer-{number}", Load("ours", partitions, 10 ** random.uniform(0, 1.5)))
    fetch_bytes = random.choice(FETCH_BYTES)
    for number in range(random.randint(1, 3)):
        work.consume(f"consumer-{number}", "our-group", "ours", **{"max.partition.fetch.bytes": fetch_bytes})
    if random.random() < 0.5:
        work.create_topic("compacted", 1, {"cleanup.policy": "compact", "segment.bytes": "2000"})
        work.produce("compacting", Load("compacted", 1, 20, random.randint(1, 20)), **{"batch.size": 1000})
    if random.random() < 0.4:
        work.create_topic("theirs", 1)
        work.produce_by_kafka_python("kafka-python-producer", Load("theirs", 1, 10))
        work.consume_by_kafka_python("kafka-python-consumer", "their-group", "theirs")


def mixed(plain: Callable[[World], Result], transactional: Callable[[World], Result]) -> Callable[[World], Result]:
    """A scenario in which every third seed has transactions."""
    return lambda world: (plain if world.seed % TRANSACTIONAL_EVERY else transactional)(world)


SCENARIOS: Final[dict[str, Callable[[World], Result]]] = {
    "one-broker": one_broker,
    "three-brokers": three_brokers,
    "five-brokers": five_brokers,
    "secured-three-brokers": secured_three_brokers,
    "growing-topics": growing_topics,
    "modern-groups": modern_groups,
    "share-groups": share_groups,
    "flipped-bits": flipped_bits,
    "scarcity": scarcity,
    "scarcity-of-one-broker": scarcity_of_one_broker,
    "three-old-brokers": three_old_brokers,
    "mirrors": mirrors,
    "helix": helix,
    "transactions": transactions,
    "transactions-of-three-brokers": transactions_of_three_brokers,
    "streams-of-three-brokers": streams_of_three_brokers,
    "streams-v2-of-three-brokers": streams_v2_of_three_brokers,
    "drawn-streams-of-three-brokers": drawn_streams_of_three_brokers,
    "connect": connect,
    "mixed": mixed(one_broker, transactions),
    "mixed-three-brokers": mixed(three_brokers, transactions_of_three_brokers),
}
"""The scenarios that a seed can be run with, by name."""
MORE_PACKAGES: Final[dict[str, tuple[str, ...]]] = {"connect": ("http", "socketserver")}
"""Packages of which the processes of a scenario have their own copies, too: workers talk to each other by HTTP."""
