"""A recording sees what code does, and does not change it."""

import linecache
import queue
import sys
import threading
from types import ModuleType

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.recording import broker_watches
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Call, Recording, RecordingError, Watch
from kafka_learn.recording.summaries import fields
from kafka_learn.recording.watches import watch, watch_queue, watch_state_machine, watch_states
from kafka_lite.common.purgatory.timing_wheel import TimerTaskEntry, TimerTaskList, TimingWheel
from kafka_lite.protocol.messages.headers import RequestHeader
from tests.support.patience import patient_s
from tests.support.recorded_store import Color, Store


class Mailbox:
    """A queue between threads."""

    def __init__(self):
        self._letters = queue.SimpleQueue()

    def post(self, letter):
        self._letters.put(letter)

    def collect(self):
        return self._letters.get(timeout=patient_s(60))

    def collect_all(self):
        return [self._letters.get() for _ in range(self._letters.qsize())]


class Machine:
    """Keeps the state of many things."""

    def __init__(self):
        self.states = {}

    def state(self, thing):
        return self.states.get(thing, Color.RED)

    def change(self, thing, target):
        self.states[thing] = target


def words(run):
    return [f"{event.kind} {event.who}.{event.what}" for event in run]


def test_calls_are_recorded_with_their_returns_and_nested_calls():
    with Recording(watch(Store.put, Store.check)) as recording:
        Store().put(b"row", position=7)
    assert words(recording.run) == ["call Store.put", "call Store.check", "return Store.check", "return Store.put"]
    outer, inner, _, end = recording.run
    assert inner.parent == outer.number == end.number
    assert outer.detail == {"row": "3 bytes", "position": 7}
    assert end.detail == {"result": 1}
    assert outer.time_ns == 0 <= inner.time_ns <= end.time_ns
    assert recording.run.actors == {"MainThread": "main"}


def test_the_line_of_kafka_lite_that_makes_a_call_or_a_change_is_recorded():
    def text(event):
        path, _, number = event.source.rpartition(":")
        return linecache.getline(str(PROJECT_ROOT / path), int(number)).strip()

    wheel = TimingWheel(1, 8, 0, lambda bucket: None)
    watches = watch(TimingWheel.add, TimerTaskList.add, show=()), watch_states(TimingWheel, "current_time_ms")
    with Recording(*watches) as recording:
        wheel.add(TimerTaskEntry(lambda: None, 3))
        wheel.advance_clock(2)
    outer, inner, *ends, change = recording.run
    assert outer.source == "", "no code of kafka_lite calls it"
    assert inner.source.startswith("kafka_lite/common/purgatory/timing_wheel.py:")
    assert text(inner) == "bucket.add(entry)"
    assert text(change) == "self.current_time_ms = time_ms - time_ms % self.tick_ms"
    assert {event.source for event in ends} == {""}


def test_an_exception_propagates_and_is_recorded():
    with Recording(watch(Store.put, Store.check, show=())) as recording, pytest.raises(ValueError, match="bad"):
        Store().put(b"bad")
    assert [event.detail for event in recording.run] == [{}, {}, {"error": "ValueError"}, {"error": "ValueError"}]


def test_everything_is_restored_even_after_an_exception():
    before = dict(vars(Store))
    with pytest.raises(KeyError), Recording(watch(Store.put, Store.new, Store.twice), watch_states(Store)):
        raise KeyError
    assert dict(vars(Store)) == before
    assert "__setattr__" not in vars(Store)


def test_a_function_is_recorded_in_any_package_that_has_imported_it(monkeypatch):
    importer = ModuleType("some_notebook")
    importer.fields = fields
    monkeypatch.setitem(sys.modules, "some_notebook", importer)
    with Recording(watch(fields)) as recording:
        importer.fields(RequestHeader(client_id="me"))
    assert words(recording.run)[::2] == ["call summaries.fields"]
    assert importer.fields is fields, "restored"


def test_class_methods_static_methods_and_module_functions_are_recorded():
    with Recording(watch(Store.new, Store.twice, fields)) as recording:
        assert isinstance(Store.new(1), Store)
        assert Store.twice(4) == 8
        broker_watches.fields(RequestHeader(client_id="me"))  # a module that imported the function
    assert words(recording.run)[::2] == ["call Store.new", "call Store.twice", "call summaries.fields"]
    assert [event.detail for event in recording.run][::2] == [
        {"size": 1},
        {"number": 4},
        {"message": "RequestHeader"},
    ]
    assert broker_watches.fields is fields


def test_a_paused_recording_records_only_the_ends_of_waiting_calls():
    mailbox = Mailbox()
    with Recording(watch_queue("letters", Mailbox.post, Mailbox.collect), watch(Store.put), paused=True) as recording:
        Store().put(1)
        waiting = threading.Thread(target=mailbox.collect, name="reader")
        waiting.start()  # it blocks in a call that began before the scene
        with recording.running():
            mailbox.post("hello")
            waiting.join()
            recording.wait_for(".letters", 2)
        Store().put(2)
    assert words(recording.run) == ["put Mailbox.letters", "take Mailbox.letters"]


def test_hand_overs_record_which_thread_put_and_which_took():
    mailbox = Mailbox()
    with Recording(watch_queue("letters", Mailbox.post, Mailbox.collect, lane="Post")) as recording:
        reader = threading.Thread(target=lambda: [mailbox.collect() for _ in range(2)], name="reader")
        reader.start()
        mailbox.post("first")
        mailbox.post("second")
        reader.join()
    pairs = recording.run.hand_overs()
    assert [(pair.put.thread, pair.take.thread) for pair in pairs] == [("MainThread", "reader")] * 2
    assert [pair.put.detail["thing"] for pair in pairs] == ["first", "second"]
    assert all(pair.waited_ns >= 0 for pair in pairs)
    assert {event.who for event in recording.run} == {"Post"}
    positions = [list(recording.run).index(event) for pair in pairs for event in (pair.put, pair.take)]
    assert positions[0] < positions[1]
    assert positions[2] < positions[3], "a put comes before its take"


def test_several_items_may_be_taken_at_once():
    mailbox = Mailbox()
    with Recording(watch_queue("letters", Mailbox.post, Mailbox.collect_all)) as recording:
        mailbox.post("first")
        mailbox.post("second")
        mailbox.collect_all()
        mailbox.collect_all()
    assert [pair.take.detail["thing"] for pair in recording.run.hand_overs()] == ["first", "second"]


def test_items_put_before_the_recording_are_no_hand_over():
    mailbox = Mailbox()
    mailbox.post("old")
    with Recording(watch_queue("letters", Mailbox.post, Mailbox.collect)) as recording:
        mailbox.collect()
    assert len(recording.run) == 0


def test_changes_of_state_are_recorded_whichever_method_makes_them():
    machine = Machine()
    watches = [*watch_states(Store), *watch_state_machine(Machine.change, "thing", Machine.state)]
    with Recording(watches) as recording:
        store = Store()
        store.state = Color.GREEN
        store.state = Color.GREEN
        machine.change("t-0", Color.GREEN)
    changes = [(event.who, event.what, event.detail["before"], event.detail["after"]) for event in recording.run]
    assert changes == [
        ("Store", "state", None, "RED"),
        ("Store", "state", "RED", "GREEN"),
        ("Machine", "t-0", "RED", "GREEN"),
    ]


def test_several_watches_of_one_method_do_not_interfere():
    watches = [
        *watch_states(Store, "state"),
        *watch_states(Store, "rows"),
        *watch(Store.put),
        *watch(Store.put, who="again"),
    ]
    with Recording(watches) as recording:
        store = Store()
        store.state = Color.GREEN
        store.put(1)
    assert words(recording.run)[-4:] == ["call Store.put", "call again.put", "return again.put", "return Store.put"]
    assert [event.what for event in recording.run.where(lambda event: event.kind is Kind.STATE)] == [
        "rows",
        "state",
        "state",
    ]


def test_an_event_that_is_completed_later_keeps_its_reserved_place():
    def after(call):
        call.emit(Kind.NOTE, "Store", "put", {"rows": call.result})

    with Recording([Watch.of(Store.put, Call.hold_place, after)], watch(Store.check)) as recording:
        Store().put("row")
    assert words(recording.run) == ["note Store.put", "call Store.check", "return Store.check"]
    assert recording.run.events[0].detail == {"rows": 1}
    with Recording([Watch.of(Store.put, Call.hold_place)]) as recording:
        Store().put("row")
    assert len(recording.run) == 0, "a reserved place without an event"


def test_each_thread_has_its_own_call_stack():
    store = Store()
    inside = threading.Event()
    gate = threading.Event()

    def check(call):
        inside.set()
        gate.wait(patient_s(60))

    with Recording(
        watch(Store.put, show=()), watch(Store.check, show=()), Watch.of(Store.check, before=check)
    ) as recording:
        slow = threading.Thread(target=store.put, args=(1,), name="slow")
        slow.start()
        inside.wait(patient_s(60))
        recording.note("meanwhile")
        gate.set()
        slow.join()
    note = next(event for event in recording.run if event.kind is Kind.NOTE)
    assert (note.who, note.what, note.parent) == ("main", "meanwhile", 0)


def test_a_failing_watch_does_not_disturb_the_run_and_is_reported_at_the_end():
    def fail(call):
        raise LookupError("watch me")

    with pytest.raises(RecordingError, match="watch me"), Recording([Watch.of(Store.put, before=fail, after=fail)]):
        assert Store().put(b"row") == 1


def test_an_invalid_watch_is_rejected_and_nothing_stays_wrapped():
    before = dict(vars(Store))
    with pytest.raises(RecordingError, match=r"int.bit_length is compiled"):
        Recording(watch(Store.put), [Watch(int, "bit_length", lambda call: None)]).__enter__()
    assert dict(vars(Store)) == before
    with pytest.raises(RecordingError, match="is created at each call"):
        watch(lambda: None)


def test_waiting_for_an_event_that_does_not_come_times_out():
    with Recording(watch(Store.put)) as recording:
        Store().put(1)
        recording.wait_for("Store.put", 2)
        with pytest.raises(TimeoutError, match=r"Store.put did not happen 3 times within 5 ms"):
            recording.wait_for("Store.put", 3, timeout_ms=5)
