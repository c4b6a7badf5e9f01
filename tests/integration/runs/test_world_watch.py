"""A run of the simulator is recorded from outside: requests, lives of processes, faults, and what was found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.world_time_line import world_time_line
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from kafka_learn.recording.world_watch import FAULTS, PROMISES, WorldWatch, around
from kafka_learn.simulate import write
from kafka_lite.testing.simulation import faults
from kafka_lite.testing.simulation.faults import Fault
from kafka_lite.testing.simulation.network import Conditions
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.workload import Workload
from kafka_lite.testing.simulation.world import World

FOUND = "lost write: 'producer-3' was acknowledged at t-1 at 1, and is not there"


def scenario(world: World) -> None:
    work = Workload(world, {"log.flush.interval.messages": "1"})
    work.cluster.start()
    work.create_topic("t", partitions=2)
    work.produce("producer", Load("t", 2))
    work.consume("consumer", "group", "t")
    world.wait_until(lambda: len(work.history.polled) > 10, 60, "records")
    work.suffer(Fault(faults.Kind.PAUSE, duration_s=1.0, after_s=0.1, amount=0.5))
    work.suffer(Fault(faults.Kind.KILL, duration_s=1.0, after_s=1.0, amount=0.5))
    assert work.finish() == []


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, WorldWatch]:
    world = World(4, tmp_path_factory.mktemp("watched"))
    watch = WorldWatch(world)
    world.run(scenario)
    return world, watch


def test_a_recording_changes_no_event(watched: tuple[World, WorldWatch], tmp_path: Path) -> None:
    world = World(4, tmp_path)
    world.run(scenario)
    assert world.events.digest == watched[0].events.digest


def test_a_record_that_was_found_is_followed_from_its_producer_to_its_consumer(
    watched: tuple[World, WorldWatch],
) -> None:
    run = watched[1].run("Seed 4", [FOUND])
    steps = sequence_diagram(run).text()
    ways = [(pair.put.what, pair.put.who, pair.take.who) for pair in run.hand_overs() if pair.take is not None]
    sent = [way for way in ways if way[0].startswith("Produce")]
    assert sent == [("Produce", "producer", "broker"), ("Produce response", "broker", "producer")]
    assert ("Fetch response", "broker", "consumer") in ways
    assert "producer-3" in steps
    assert "producer-30" not in steps
    assert run.lanes[-3:] == ("broker", FAULTS, PROMISES)
    assert run.events[-1].who in (PROMISES, "process")
    sends = [event.time_ns for event in run if event.kind is Kind.PUT and event.what == "Produce"]
    assert [watched[1].moment_ns([FOUND])] == sends


def test_processes_and_faults_have_their_times(watched: tuple[World, WorldWatch]) -> None:
    run = watched[1].run("Seed 4", [FOUND])
    states = [event.detail["after"] for event in run if event.kind is Kind.STATE and event.who == "broker"]
    assert states == ["runs", "paused", "runs", "killed", "runs", "ended, exit code 0"]
    lanes = {lane.label: lane for lane in world_time_line(run).lanes}
    assert [span.label for span in lanes["broker"].spans] == ["runs", "paused", "runs"]
    pause, kill = lanes[FAULTS].spans
    assert (pause.label, kill.label) == ("pause of the broker", "kill -9 of the broker")
    assert pause.end_ns - pause.start_ns >= 1e9
    assert lanes[PROMISES].spans[0].end_ns == run.events[-1].time_ns


def test_without_a_record_everything_near_the_last_fault_is_shown(
    watched: tuple[World, WorldWatch], tmp_path: Path
) -> None:
    watch = watched[1]
    found = ["stuck group: the group of t-0 has read up to 1; 2 was acknowledged"]
    moment_ns = watch.moment_ns(found)
    run = around(watch.run("Seed 4", found), moment_ns)
    assert any(event.what.startswith("kill -9") and event.time_ns == moment_ns for event in run)
    assert any(pair.put.what.startswith("OffsetCommit") for pair in run.hand_overs())
    assert len(sequence_diagram(run).layout.steps) <= 40
    assert watch.moment_ns(found, is_over=False) > moment_ns
    write(run, tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8").count("<svg") == 2
    write(run, tmp_path / "run.jsonl")
    assert RecordedRun.load(tmp_path / "run.jsonl") == run


def test_a_window_has_what_is_received_in_it_and_what_was_found() -> None:
    def passage(number: int, sent_ns: int, arrived_ns: int) -> list[Event]:
        return [
            Event(sent_ns, "a", Kind.PUT, "a", "Produce", number),
            Event(arrived_ns, "b", Kind.TAKE, "b", "Produce", number),
        ]

    found = Event(900, PROMISES, Kind.NOTE, PROMISES, "lost write")
    events = [each for number in range(20) for each in passage(number, number * 10, number * 10 + 5)] + [found]
    run = around(RecordedRun(tuple(events), lanes=("a", "b", "c", PROMISES)), moment_ns=100, steps=6)
    assert [event.number for event in run if event.kind is Kind.TAKE] == [8, 9, 10, 11, 12, 13]
    assert all(pair.take is not None for pair in run.hand_overs())
    assert run.events[-1] == found
    assert run.lanes == ("a", "b", PROMISES)


def test_what_had_not_arrived_when_the_run_ended_is_on_its_way(tmp_path: Path) -> None:
    slow = Conditions(min_latency_ns=50_000_000, max_latency_ns=50_000_000, split_probability=0.0)
    world = World(4, tmp_path, conditions=slow)
    watch = WorldWatch(world)

    def cut_short(world: World) -> None:
        work = Workload(world)
        work.cluster.start()
        work.create_topic("t", partitions=1)
        work.produce("producer", Load("t"))
        world.wait_until(lambda: work.history.acknowledged, 60, "a record")
        world.wait_until(lambda: watch.frames[-1].arrived_ns is None, 60, "a request")

    world.run(cut_short)
    notes = [event.what for event in watch.run("Seed 4") if event.kind is Kind.NOTE]
    assert any(note.startswith("Produce") and "is on its way" in note for note in notes)
    assert not any("is lost" in note for note in notes)


@pytest.mark.soak
def test_the_command_draws_a_run_that_an_invariant_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    command = [sys.executable, "-m", "kafka_learn.simulate", "--seed", "1", "--brokers", "3", "--record", str(path)]
    bug = ["--package", "tests", "--broker", "tests.support.broken_brokers:committing_beyond_the_end"]
    done = subprocess.run([*command, *bug], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    run = RecordedRun.load(path)
    (found,) = (event for event in run if event.who == PROMISES)
    assert re.fullmatch(
        r"InvariantError: broker \d leads .*: its high watermark \d+ is beyond its log's end \d+", found.what
    )
    assert found.time_ns == max(event.time_ns for event in run)
    assert any(pair.put.what == "Produce" for pair in run.hand_overs())
    assert "promises: InvariantError: broker" in sequence_diagram(run).text()


@pytest.mark.soak
def test_the_command_draws_a_seed(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    command = [sys.executable, "-m", "kafka_learn.simulate", "--seed", "2", "--record", str(path), "--around", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 2: good" in done.stdout
    assert path.read_text(encoding="utf-8").count("<svg") == 2
