"""An unmodified broker, our clients and kafka-python's in a world from a seed."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from kafka_lite.testing.simulation.cluster import Broker, BrokerCluster
from kafka_lite.testing.simulation.disturbance import Disturbance
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.machine import Machine, Process
from kafka_lite.testing.simulation.network import Conditions
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.runner import ModulePool
from kafka_lite.testing.simulation.scenarios import GROWING, growing_topics
from kafka_lite.testing.simulation.scheduler import State
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.workload import Result, Workload
from kafka_lite.testing.simulation.world import World
from scripts.simulated_bugs import ALL, find

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]
BROKER = "kafka_lite.testing.simulation.programs:broker"
COMMAND = ("-m", "kafka_lite.testing.simulation.command")
ONE_SEED_WITH_ANY_HASHES = (
    "-c",
    "import os; from kafka_lite.testing.simulation.command import parser, run_one; "
    "run_one(parser().parse_args()); os._exit(0)",
)
"""The command without its first step, which fixes the hashes of text."""
FLUSHED = {"log.flush.interval.messages": "1"}


def start_broker(machine: Machine) -> Process:
    properties = {"log.dirs": str(machine.folder / "data"), "listeners": f"PLAINTEXT://{machine.ip}:9092"}
    return machine.start(BROKER, properties)


def run_in_process(*arguments: str, hash_seed: str) -> str:
    command = [sys.executable, *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.soak
@pytest.mark.nightly  # .ci/run runs seeds twice itself
def test_a_seed_has_the_same_hash_in_two_processes_that_hash_text_differently() -> None:
    """No set reaches the wire or the disk in the order of its hashes."""
    outputs = [run_in_process(*ONE_SEED_WITH_ANY_HASHES, "--seed", "2", hash_seed=seed) for seed in ("1", "random")]
    hashes = [re.findall(r"hash (\w+) of (\d+) steps", output) for output in outputs]
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) == 1
    assert "fault: " in outputs[0]


@pytest.mark.soak
def test_a_seed_has_the_same_events_wherever_its_files_and_objects_are(tmp_path: Path) -> None:
    fault = Fault(Kind.EIO, duration_s=1.0, after_s=1.0, amount=0.1)  # its error messages have paths in them
    digests = []
    for name in ("here", "in-another-folder-with-a-longer-name"):
        disturbance = Disturbance(Random(name))
        world = World(4, tmp_path / name, trace=disturbance.event)
        result = world.run(lambda world: run_with_faults(world, [fault]))
        assert result.violations == []
        digests.append(world.events.digest)
    assert digests[0] == digests[1]


def test_a_commit_of_a_killed_consumer_is_no_surprise_to_the_next_one(tmp_path: Path) -> None:
    def scenario(world: World) -> Result:
        work = Workload(world, FLUSHED)
        work.broker.start()
        work.create_topic("t", partitions=1)
        work.produce("producer", Load("t", 1))
        work.consume("consumer", "group", "t")
        commits = work.history.commits
        world.wait_until(lambda: commits and commits[-1].ended is None, 60, "a commit in flight")
        world.sleep(0.07)  # the broker has it, and its response is on its way
        work.suffer(Fault(Kind.KILL_CONSUMER, duration_s=0.1, after_s=0.1, amount=0.0))
        world.wait_until(lambda: work.history.committed_reads[-1].offset is not None, 60, "the next consumer")
        return Result(work.history, work.finish())

    latency_ns = 50_000_000
    world = World(5, tmp_path, conditions=Conditions(latency_ns, latency_ns, split_probability=0))
    result = world.run(scenario)
    unanswered = {commit.offset for commit in result.history.commits if commit.ended is None}
    assert result.history.committed_reads[-1].offset in unanswered
    assert result.violations == []


def test_a_group_that_an_unrelated_deletion_of_a_topic_has_removed_begins_with_generation_1_again(
    tmp_path: Path,
) -> None:
    def scenario(world: World) -> Result:
        work = Workload(world)
        work.broker.start()
        for topic in ("t", "other"):
            work.create_topic(topic, partitions=1)
        work.consume("consumer", "group", "t")  # nothing to read, so it does not commit
        given = work.history.assignments
        world.wait_until(lambda: len(given) == 1, 60, "an assignment")
        consumer = work.clients.pop()
        consumer.kill()
        world.sleep(15)  # its session is over, and the group is empty
        work.delete_topic("other")
        work.consume("successor", "group", "t")
        world.wait_until(lambda: len(given) == 2, 60, "the next assignment")
        return Result(work.history, work.finish())

    result = World(5, tmp_path).run(scenario)
    assert [given.generation for given in result.history.assignments] == [1, 1]
    assert [stored.generation for stored in result.history.generations] == [1, 2, None, 1, 2]
    assert result.violations == []


@pytest.mark.parametrize("kind", [Kind.KILL_CONTROLLER, Kind.PAUSE, Kind.CUT_PAIR], ids=lambda kind: kind.name)
@pytest.mark.soak
def test_a_cluster_keeps_its_promises_through_a_fault(kind: Kind, tmp_path: Path) -> None:
    fault = Fault(kind, duration_s=6.0, after_s=4.0, amount=0.5)  # longer than sessions and followers last
    result = World(4, tmp_path).run(lambda world: run_with_faults(world, [fault], {}, brokers=3))
    assert result.violations == []
    assert len(result.history.acknowledged) > 20
    assert len(result.history.polled) > 20
    assert sorted(result.history.replicas) == [0, 1, 2]
    assert all(len(replica) >= len(result.history.acknowledged) for replica in result.history.replicas.values())


@pytest.mark.soak
def test_groups_go_on_when_their_topic_was_created_while_one_broker_of_three_was_alive(tmp_path: Path) -> None:
    def scenario(world: World) -> Result:
        work = Workload(world, brokers=3)
        work.cluster.start()
        work.create_topic("t", partitions=1)
        work.produce("producer", Load("t", 1))
        dead = work.cluster.brokers[1:]
        for broker in dead:
            broker.kill()
        world.sleep(10)  # their sessions have expired
        work.consume("consumer", "group", "t")
        world.sleep(2)  # now __consumer_offsets is there
        for broker in dead:
            broker.start()
        return Result(work.history, work.finish())

    world = World(1, tmp_path)
    result = world.run(scenario)
    assert result.violations == []
    assert result.history.polled
    assert [process.name for process in world.processes].count("add_replicas") == 1


@pytest.mark.soak
def test_five_brokers_with_three_replicas_of_each_partition_keep_their_promises(tmp_path: Path) -> None:
    fault = Fault(Kind.KILL_CONTROLLER, duration_s=5.0, after_s=2.0, amount=0.5)
    result = World(4, tmp_path).run(lambda world: run_with_faults(world, [fault], {}, brokers=5))
    assert result.violations == []
    assert len(result.history.acknowledged) > 20
    assert {at: len(set(hosts)) for at, hosts in result.history.hosts.items()} == {("t", 0): 3, ("t", 1): 3}
    for (_, partition), hosts in result.history.hosts.items():
        places = [stored.place for stored in result.history.stored if stored.place.partition == partition]
        holders = {broker for broker, replica in result.history.replicas.items() if places[0] in replica}
        assert holders == set(hosts)


@pytest.mark.soak
def test_a_group_reads_all_partitions_of_a_topic_that_grows_while_brokers_fail(tmp_path: Path) -> None:
    world = World(14, tmp_path)  # it lets the topic grow twice, two others, too, and deletes one
    result = world.run(growing_topics)
    assert result.violations == []
    partitions = {polled.place.partition for polled in result.history.polled if polled.place.topic == GROWING}
    assert partitions == {0, 1, 2}
    assert len(result.history.deleted) == 1
    hosts = result.history.hosts
    grown = {topic for topic, _ in hosts if topic.startswith("passing-")}
    assert [len(hosts.keys() & {(topic, number) for number in range(5)}) for topic in grown] == [4, 4]


@pytest.mark.soak
@pytest.mark.nightly  # .ci/run runs seeds twice itself
def test_many_seeds_find_nothing_and_have_the_same_hashes_again() -> None:
    output = run_in_process(*COMMAND, "--seeds", "4", "--twice", "1", "--workers", "2", hash_seed="3")
    assert "5 runs of 4 seeds, 1 of them twice; 0 bad" in " ".join(output.split())


def in_this_interpreter_only(world: World) -> None:
    """A scenario whose events tell which process has forked the one that it runs in."""
    world.events.event(0, f"parent {os.getppid()}")


@pytest.mark.soak
def test_a_second_run_is_in_another_interpreter() -> None:
    scenario = f"{__name__}:{in_this_interpreter_only.__name__}"
    command = [sys.executable, "-m", "kafka_lite.testing.simulation.command", "--scenario", scenario, "--seeds", "2"]
    done = subprocess.run([*command, "--twice", "1"], capture_output=True, text=True, check=False)
    assert "two runs of the seed have different hashes" in done.stdout
    assert "3 runs of 2 seeds, 1 of them twice; 1 bad: [1]" in " ".join(done.stdout.split())


def run_with_faults(
    world: World, faults: Sequence[Fault], properties: Mapping[str, str] = FLUSHED, brokers: int = 1
) -> Result:
    """A producer and a consumer of a topic with two partitions, while these things go wrong."""
    work = Workload(world, properties, brokers)
    work.cluster.start()
    work.create_topic("t", partitions=2)
    work.produce("producer", Load("t", 2))
    work.consume("consumer", "group", "t")
    world.sleep(3)
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish())


@pytest.mark.parametrize(
    "kind",
    [
        *(Kind.KILL, Kind.POWER, Kind.RESET),
        *(pytest.param(kind, marks=pytest.mark.soak) for kind in (Kind.PAUSE, Kind.CUT_RESPONSES, Kind.EIO)),
        *(pytest.param(kind, marks=pytest.mark.soak) for kind in (Kind.JUMP, Kind.JUMP_CLIENTS)),
    ],
    ids=lambda kind: kind.name,
)
def test_a_broker_keeps_its_promises_through_a_fault(kind: Kind, tmp_path: Path) -> None:
    fault = Fault(kind, duration_s=3.0, after_s=2.0, amount=0.5)
    result = World(4, tmp_path).run(lambda world: run_with_faults(world, [fault]))
    assert result.violations == []
    assert len(result.history.acknowledged) > 20
    assert len(result.history.polled) > 20
    assert len(result.history.stored) >= len(result.history.acknowledged)


@pytest.mark.parametrize(
    ("bug", "kind", "rules"),
    [
        ("without_sequence_check", Kind.RESET, {"duplicate", "reordered sends"}),
        pytest.param("without_fsync", Kind.POWER, {"lost write"}, marks=pytest.mark.soak),
        pytest.param("without_loaded_offsets", Kind.KILL, {"lost commit"}, marks=pytest.mark.soak),
    ],
)
def test_a_known_bug_is_found(bug: str, kind: Kind, rules: set[str], tmp_path: Path) -> None:
    faults = [Fault(kind, duration_s=1.0, after_s=2.0, amount=1.0)] * 3
    found: set[str] = set()
    for seed in range(1, 7):
        world = World(seed, tmp_path / str(seed), modules=lambda: Modules((*PACKAGES, "tests")))
        world.substitutes[BROKER] = f"tests.support.broken_brokers:{bug}"
        result = world.run(lambda world: run_with_faults(world, faults))
        found = {violation.rule for violation in result.violations}
        if found & rules:
            return
    pytest.fail(f"no seed found it; the last one found {found}")


def add_partitions_while_a_topic_is_altered(world: World) -> Result:
    """Twelve topics; the alteration comes a little later with each."""
    work = Workload(world)
    work.cluster.start()
    for number in range(12):
        work.create_topic(f"t-{number}", partitions=1)
        work.add_partitions(f"t-{number}", 12, delay_s=0.002 * number)
    return Result(work.history, work.finish())


@pytest.mark.soak
def test_partitions_that_are_added_have_the_configuration_of_an_alteration_that_meets_them(tmp_path: Path) -> None:
    result = World(4, tmp_path).run(add_partitions_while_a_topic_is_altered)
    assert result.violations == []
    final = [config for _, topic, config in result.history.applied_configs if topic == "t-11"]
    assert len(final) >= 12
    assert final[-1] == result.history.configs["t-11"]


@pytest.mark.soak
def test_an_alteration_that_new_partitions_undo_is_found(tmp_path: Path) -> None:
    for seed in range(3, 7):
        world = World(seed, tmp_path / str(seed), modules=lambda: Modules((*PACKAGES, "tests")))
        world.substitutes[BROKER] = "tests.support.broken_brokers:undoing_alterations"
        result = world.run(add_partitions_while_a_topic_is_altered)
        if {violation.rule for violation in result.violations} == {"forgotten configuration"}:
            return
    pytest.fail("no seed found it")


def test_an_hour_of_an_idle_broker_ends_in_a_clean_stop(tmp_path: Path) -> None:
    world = World(1, tmp_path)

    def scenario(world: World) -> None:
        broker = start_broker(world.machine("broker"))
        world.sleep(3_600)
        broker.stop()
        world.wait_until(lambda: not broker.is_running, 60, "a clean stop")
        assert broker.exit_code == 0
        assert broker.failure is None

    world.run(scenario)
    assert world.now_s > 3_600


def test_a_second_broker_cannot_use_the_data_of_the_first(tmp_path: Path) -> None:
    world = World(2, tmp_path, conditions=Conditions())

    def scenario(world: World) -> None:
        machine = world.machine("broker")
        first = start_broker(machine)
        world.sleep(5)
        second = start_broker(machine)
        world.wait_until(lambda: not second.is_running, 60, "the second broker's end")
        assert second.exit_code == 1
        assert "Address already in use" in (second.failure or "")
        assert first.is_running
        first.kill()
        third = start_broker(machine)
        world.sleep(5)
        assert third.is_running

    world.run(scenario)


def test_a_broker_that_was_started_in_the_background_ends_well(tmp_path: Path) -> None:
    def scenario(world: World) -> None:
        machine, started = world.machine("broker"), []
        task = world.in_background("starter", lambda: started.append(start_broker(machine)))
        world.wait_until(lambda: task.state is State.ENDED, 10, "the start")
        world.sleep(3)
        started[0].stop()
        world.wait_until(lambda: not started[0].is_running, 60, "a clean stop")
        assert started[0].exit_code == 0, started[0].failure

    World(3, tmp_path).run(scenario)


def test_a_broker_without_descriptors_lets_clients_wait_and_takes_them_when_it_has_some(tmp_path: Path) -> None:
    """The high watermarks are not written meanwhile: without a descriptor for that, a broker stops."""

    def scenario(world: World) -> Result:
        work = Workload(world, {"replica.high.watermark.checkpoint.interval.ms": "60000"})
        work.broker.start()
        work.create_topic("t", partitions=1)
        work.broker.running().limit_descriptors(0)
        work.produce("producer", Load("t", 1))
        world.sleep(3)
        assert work.history.acknowledged == []
        work.broker.running().limit_descriptors(None)
        world.wait_until(lambda: work.history.acknowledged, 60, "a record")
        return Result(work.history, work.finish())

    world = World(4, tmp_path)
    assert world.run(scenario).violations == []
    assert any("Too many open files" in note for note in world.events.notes)


def test_a_broker_that_two_start_at_once_runs_once(tmp_path: Path) -> None:
    """A fault that is over, and the supervisor: the second one came in between, and found the port in use."""

    def scenario(world: World) -> list[Process]:
        broker = BrokerCluster(world, 1, {}).brokers[0]
        tasks = [world.in_background("starter", broker.start) for _ in range(2)]
        world.wait_until(lambda: all(task.state is State.ENDED for task in tasks), 10, "the starts")
        return world.processes

    for seed in range(1, 9):  # in some of them, a thread changes while a process begins
        assert len(World(seed, tmp_path / str(seed)).run(scenario)) == 1


def test_a_call_that_is_not_simulated_is_reported(tmp_path: Path) -> None:
    world = World(3, tmp_path)

    def scenario(world: World) -> str:
        process = world.machine("m").start("os:fork")
        world.sleep(1)
        return process.failure or ""

    assert "os.fork is not simulated" in world.run(scenario)


def test_a_flipped_bit_on_the_disk_is_an_error_and_never_a_wrong_record(tmp_path: Path) -> None:
    def scenario(world: World) -> Workload:
        work = Workload(world)
        work.broker.start()
        work.create_topic("t", partitions=1)
        work.produce("producer", Load("t", 1))
        world.wait_until(lambda: len(work.history.acknowledged) > 40, 60, "records")
        work.history.is_sending_over = True
        world.wait_until(lambda: not work.clients[0].is_running, 60, "the producer's end")
        work.broker.stop()
        world.wait_until(lambda: not work.broker.running().is_running, 60, "a clean stop")
        machine = work.broker.machine
        (log,) = (machine.folder / "data" / "t-0").glob("*.log")
        machine.disk.flip_bit(log, log.read_bytes().index(b"producer-20") + len("producer-2"))  # producer-21
        work.broker.start()
        work.consume("consumer", "group", "t")
        world.wait_until(lambda: work.history.polled, 60, "what is before the damage")
        world.sleep(10)
        assert work.clients[-1].failure is None
        return work

    history = World(6, tmp_path).run(scenario).history
    values = {place: record.value for record, place in history.acknowledged}
    polled = {record.place: record.value for record in history.polled}
    assert polled.items() <= values.items()
    assert "producer-0" in polled.values()
    assert "producer-20" not in polled.values()


@pytest.mark.soak
def test_a_coordinator_without_memory_for_its_groups_does_not_say_that_they_are_gone(tmp_path: Path) -> None:
    """The group's coordinator stops, and the others have no memory to read the 100 kB of its log, for half a minute."""

    def scenario(world: World) -> Result:
        work = Workload(world, {}, brokers=3)
        work.cluster.start()
        work.create_topic("t", partitions=1)
        work.produce("producer", Load("t", 1, 20))
        work.consume("consumer", "group", "t")
        world.sleep(60)
        coordinator = next(broker for broker in work.cluster.brokers if coordinates_groups(broker))
        others = [broker.running() for broker in work.cluster.brokers if broker is not coordinator]
        for process in others:
            process.limit_memory(80_000)
        coordinator.kill()
        world.sleep(30)
        for process in others:
            process.limit_memory(None)
        coordinator.start()
        return Result(work.history, work.finish())

    world = World(4, tmp_path)
    assert world.run(scenario).violations == []
    assert any("No memory to load __consumer_offsets" in note for note in world.events.notes)


def coordinates_groups(broker: Broker) -> bool:
    assert broker.parts is not None
    return bool(broker.parts.groups.group_manager.is_group_local("group"))


def run_with_flipped_bits(world: World) -> Result:
    """A follower is down while records are committed without it. It starts again while bits of all replicas flip."""
    work = Workload(world, {}, brokers=3)
    work.cluster.start()
    work.create_topic("t", partitions=1)
    work.produce("producer", Load("t", 1))
    world.sleep(2)
    killing = world.in_background("kill", lambda: work.suffer(Fault(Kind.KILL, 8.0, 0.0, 0.0)))
    world.sleep(7)
    flips = [Fault(Kind.FLIP, 6.0, 0.0, broker / 1000) for broker in (1, 2) for _ in range(8)]
    flipping = [world.in_background("flip", functools.partial(work.suffer, flip)) for flip in flips]
    work.consume("consumer", "group", "t")
    world.wait_until(lambda: all(task.state is State.ENDED for task in (killing, *flipping)), 60, "the faults' ends")
    return Result(work.history, work.finish())


@pytest.mark.soak
def test_flipped_bits_are_refused_by_followers_and_consumers_until_they_read_right(tmp_path: Path) -> None:
    world = World(4, tmp_path)
    result = world.run(run_with_flipped_bits)
    assert result.violations == []
    assert result.history.excused == set()
    assert any("Found invalid messages" in note for note in world.events.notes)
    assert len({polled.place for polled in result.history.polled}) == len(result.history.stored) > 100


@pytest.mark.soak
def test_a_follower_that_checks_no_checksums_is_found(tmp_path: Path) -> None:
    world = World(4, tmp_path, modules=lambda: Modules((*PACKAGES, "tests")))
    world.substitutes[BROKER] = "tests.support.broken_brokers:without_checksums"
    result = world.run(run_with_flipped_bits)
    assert {violation.rule for violation in result.violations} == {"diverged replica"}


@pytest.mark.soak
@pytest.mark.nightly
def test_a_bug_of_the_recorded_table_is_found_with_drawn_faults() -> None:
    bug = next(bug for bug in ALL if bug.name == "without_sequence_check")
    found = find(bug, most=40, pool=ModulePool(6, packages=["tests"]), workers=1)
    assert found is not None
    assert found.findings & {"duplicate", "reordered sends", "inconsistent offsets"}
