"""Runs of a real broker are recorded and show what happens in it; saved runs still match the code."""

import json
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from chapters.ch02_producer.figures import request_runs
from kafka_learn import runs
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.time_line import time_line
from kafka_learn.kept.opened_files import NOTES
from kafka_learn.kept.used_files import UsedFiles
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.recording import run_store
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import running_broker
from kafka_learn.recording.watches import watch_state_machine, watch_states
from kafka_learn.site.directives import DirectiveError, Page, expand
from kafka_lite.controller.partition_state_machine import PartitionStateMachine
from kafka_lite.controller.replica_state_machine import ReplicaStateMachine
from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.processor import Processor
from kafka_lite.network.request_channel import RequestChannel

MOST_STEPS = 40


@pytest.fixture(scope="module")
def produce() -> RecordedRun:
    return request_runs.produce_request()


@pytest.fixture(scope="module")
def inline_produce() -> RecordedRun:
    return request_runs.inline_produce_request()


@pytest.fixture(scope="module")
def purgatory() -> RecordedRun:
    return request_runs.fetch_in_purgatory()


def in_order(run: RecordedRun, *names: str) -> bool:
    """Whether events ``Object.what`` happen in this order, possibly with others in between."""
    happened: Iterator[str] = (f"{event.kind} {event.who}.{event.what}" for event in run)
    return all(name in happened for name in names)


def roles(run: RecordedRun) -> dict[str, tuple[str, str]]:
    """By queue: the class of the thread that put, and of the one that took."""
    return {
        pair.put.what: (
            run.actors[pair.put.thread],
            run.actors[pair.take.thread] if pair.take is not None else "nobody",
        )
        for pair in run.hand_overs()
    }


def test_a_produce_request_passes_through_every_object_that_the_book_names(produce):
    assert in_order(
        produce,
        "put producer.connection",
        "take Acceptor.connection",
        "put Processor.new connection",
        "take Processor.new connection",
        "take Processor.request",
        "put RequestChannel.request queue",
        "take RequestChannel.request queue",
        "call KafkaApis.handle",
        "call ReplicaManager.append_records",
        "call Log.append_as_leader",
        "call LogSegment.append",
        "file FileMessageSet.append",
        "return LogSegment.append",
        "put RequestChannel.response queue",
        "take RequestChannel.response queue",
        "put Processor.response",
        "take producer.response",
    )
    assert roles(produce) == {
        "connection": ("producer", "Acceptor"),
        "new connection": ("Acceptor", "Processor"),
        "request": ("producer", "Processor"),
        "request queue": ("Processor", "KafkaRequestHandler"),
        "response queue": ("KafkaRequestHandler", "Processor"),
        "response": ("Processor", "producer"),
    }


def test_positions_bytes_and_phases_are_those_of_the_broker(produce):
    append = next(event for event in produce if event.kind is Kind.FILE)
    assert append.where == "00000000000000000000.log"
    assert append.detail["position"] == append.detail["bytes"], "after the first record, which has the same size"
    response = next(event for event in produce if (event.kind, event.what) == (Kind.TAKE, "response"))
    assert response.detail["base_offset"] == 1
    [phases] = [event.detail for event in produce if event.kind is Kind.PHASES]
    waits = sum(phases[f"{name}_ms"] for name in ("request_queue", "response_queue", "response_send"))
    assert 0 < waits < phases["total_ms"]
    assert 0 < phases["local_ms"] < phases["total_ms"]
    assert phases["remote_ms"] == 0, "acks=1 does not wait"


def test_a_quick_request_does_not_leave_the_network_thread(inline_produce):
    assert "request queue" not in roles(inline_produce)
    handle = next(event for event in inline_produce if event.what == "handle")
    assert inline_produce.actors[handle.thread] == "Processor"
    assert "KafkaRequestHandler" not in inline_produce.actors.values()


def test_a_fetch_waits_for_the_producers_record(purgatory):
    assert in_order(
        purgatory,
        "put consumer.request",
        "call DelayedOperationPurgatory.try_complete_else_watch",
        "put DelayedOperationPurgatory.purgatory",
        "put producer.request",
        "file FileMessageSet.append",
        "call DelayedOperationPurgatory.check_and_complete",
        "take DelayedOperationPurgatory.purgatory",
        "file FileMessageSet.read",
        "file FileMessageSetSlice.sendfile",
        "take consumer.response",
    )
    [waiting] = [pair for pair in purgatory.hand_overs() if pair.put.what == "purgatory"]
    assert waiting.take is not None
    assert waiting.put.thread != waiting.take.thread, "the thread that handles the produce request completes it"
    assert waiting.waited_ns > request_runs.BEFORE_THE_RECORD_MS * 1e6
    tries = [event for event in purgatory if (event.kind, event.what) == (Kind.RETURN, "try_complete")]
    assert [event.detail["result"] for event in tries] == [False, False, True], "before and after it is watched"


EACH_RUN = sorted(runs.all_runs())
IN_MAKE_TEST = set(EACH_RUN[::4])
"""The site's build draws all of them, and so does ``make soak``."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in IN_MAKE_TEST else pytest.mark.soak) for name in EACH_RUN]
)
def test_every_run_gives_a_figure_of_legible_size(name, request):
    fixtures = {
        "produce-request": "produce",
        "inline-produce-request": "inline_produce",
        "fetch-in-purgatory": "purgatory",
    }
    run = request.getfixturevalue(fixtures[name]) if name in fixtures else runs.all_runs()[name]()
    diagram = sequence_diagram(run)
    assert len(diagram.layout.steps) <= MOST_STEPS
    busy = {lane for step in diagram.layout.steps for lane in (step.source, step.target)}
    assert set(run.lanes) == set(diagram.layout.lanes) <= busy, "a lane without a step"
    assert time_line(run).svg().startswith("<svg")


def test_all_recordings_of_a_run_have_the_same_structure(produce):
    assert request_runs.produce_request().structure() == produce.structure()


def test_state_changes_of_channels_and_of_the_controller_are_recorded():
    watches = [
        *watch_states(KafkaChannel),
        *watch_state_machine(PartitionStateMachine._handle_state_change, "partition", PartitionStateMachine.state),
        *watch_state_machine(ReplicaStateMachine._handle_state_change, "replica", ReplicaStateMachine.state),
    ]
    with Recording(watches) as recording, running_broker():
        pass  # creates a topic on the way
    changes = [(event.who, event.detail["before"], event.detail["after"]) for event in recording.run]
    assert [after for who, _, after in changes if who == "PartitionStateMachine"] == ["NEW", "ONLINE"]
    assert [after for who, _, after in changes if who == "ReplicaStateMachine"] == ["NEW", "ONLINE"]
    channel = [change for change in changes if change[0] == "KafkaChannel"]
    assert channel[:2] == [("KafkaChannel", None, "CONNECTING"), ("KafkaChannel", "CONNECTING", "READY")]
    assert channel[-1] == ("KafkaChannel", "READY", "CLOSED")


def test_nothing_stays_wrapped(produce):
    for method in (Processor.accept, RequestChannel.send_request, RequestChannel.receive_responses):
        assert not hasattr(method, "__wrapped__")


def test_saved_runs_still_match_the_code():
    for path in run_store.kept_runs():
        assert run_store.drift(path) == [], f"record {path.relative_to(PROJECT_ROOT)} again, and read its text again"


def test_a_saved_run_that_no_longer_matches_the_code_is_found(tmp_path, produce):
    path = tmp_path / "chapters" / "ch02_network" / "produce.jsonl"
    produce.save(path)
    assert run_store.kept_runs(tmp_path) == [path]
    assert run_store.drift(path) == []
    produce.without("LogSegment.append").save(path)
    assert run_store.drift(path) == [
        "+ kafka-request-handler: call LogSegment.append",
        "+ kafka-request-handler: return LogSegment.append",
    ]


# -- pages ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, monkeypatch, produce):
    """A project whose only file is a saved run."""
    produce.save(tmp_path / "chapters" / "run.jsonl")
    monkeypatch.setattr(run_store, "RECORDED", tmp_path / "runs")
    monkeypatch.setattr(run_store.recorded_run, "__defaults__", (tmp_path,))
    return "chapters/run.jsonl"


def page(spec: str, language: str = "en", note: str = "") -> str:
    return expand(f"Text.\n\n<!-- recording {spec} -->\n{note}\n", Page("page.md", PurePosixPath("page.md"), language))


def test_a_page_shows_a_recording_with_its_steps_as_text(kept):
    note = "**Recorded run**: Its way ([`run.jsonl`](chapters/run.jsonl), drawn on the site)"
    text = page(f"{kept} lanes=producer,KafkaRequestHandler,Log", note=note)
    assert text.count("<svg") == 2, "the heads of the lanes, which stay, and the rows"
    assert "<figcaption>Its way</figcaption>" in text
    assert "<summary>In words</summary>" in text
    assert "<li>KafkaRequestHandler → Log: append_as_leader" in text
    assert "<details>" not in page(f"{kept} words=no")
    assert "文字说明" in page(f"{kept} view=time-line", "zh")


@pytest.mark.parametrize(
    ("fence", "problem"),
    [
        ("chapters/none.jsonl", "there is no file chapters/none.jsonl"),
        ("chapters.ch02_producer.figures.request_runs:none", "there is no 'none'"),
        ("kafka_learn.recording.run_brokers:open_connections", "has recorded nothing: TypeError"),
        ("{kept} view=round", "view=round: must be one of sequence, time-line"),
        ("{kept} lanes=Procesor", "the recorded run has no Procesor"),
        ("{kept} returns=some", "returns=some: must be one of"),
        ("{kept} width=3", "'width' is none of its options: lanes, hide, returns, by"),
        ("{kept} seed=1", "chapters/run.jsonl is a recorded file: it takes no seed"),
        ("{kept} seed=one", "seed=one: must be a number"),
        ("{kept} view=time-line lanes=Log", "'lanes' is none of its options: hide, threads"),
    ],
)
def test_an_invalid_recording_names_the_line_of_the_page(kept, fence, problem):
    with pytest.raises(DirectiveError, match=f"page.md:3: .*{problem}"):
        page(fence.format(kept=kept))


def test_a_run_is_recorded_once_per_state_of_the_files_that_it_reads(kept, monkeypatch):
    recorded = []

    def record(reference, seed, environment):
        assert seed is None
        assert NOTES in environment
        recorded.append(reference)
        return RecordedRun((Event(0, "main", Kind.NOTE, "main", "hello"),), recorded_by=reference)

    monkeypatch.setattr(run_store, "record", record)
    for _ in range(2):
        assert len(run_store.recorded_run("some.module:run")) == 1
    assert recorded == ["some.module:run"]
    monkeypatch.setattr(run_store, "is_current", lambda path: False)
    run_store.recorded_run("some.module:run")
    assert recorded == ["some.module:run"] * 2


def test_the_files_of_a_run_are_those_of_the_rooms_that_it_enters(tmp_path):
    with UsedFiles() as used:
        run = run_store.record("chapters.ch06_storage.figures.storage_runs:append_and_roll", None, used.environment())
        files = used.files()
    assert len(run) > 20
    assert {"kafka_lite/log/log_segment.py", "chapters/ch06_storage/figures/storage_runs.py"} <= set(files)
    assert not [name for name in files if name.startswith(("kafka_lite/streams/", "kafka_learn/site/"))]


def test_a_run_of_a_simulated_world_depends_on_the_copies_of_its_processes():
    with UsedFiles() as used:
        run_store.record("chapters.ch06_storage.figures.storage_runs:append_and_roll", 1, used.environment())
        files = used.files()
    assert {"kafka_lite/log/log_segment.py", "kafka_lite/testing/simulation/world.py"} <= set(files)


def test_the_command_prints_saves_and_draws(capsys, tmp_path, monkeypatch, produce):
    monkeypatch.setitem(request_runs.RUNS, "produce-request", lambda: produce)
    assert runs.main(["produce-request"]) == 0
    assert "append_as_leader" in capsys.readouterr().out
    assert runs.main(["produce-request", "--view", "time-line"]) == 0
    assert "request-handler" in capsys.readouterr().out
    assert runs.main(["produce-request", "--save", str(tmp_path / "run.jsonl")]) == 0
    assert json.loads((tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()[0])["title"] == produce.title
    assert runs.main(["produce-request", "--svg", str(tmp_path / "run.svg")]) == 0
    assert (tmp_path / "run.svg").read_text(encoding="utf-8").startswith("<svg")
