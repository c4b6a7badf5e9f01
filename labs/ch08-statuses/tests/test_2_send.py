"""Task 2: a report is written."""

import pytest


@pytest.mark.points(10, task=2)
def test_safe_or_not(statuses, report):
    """Worker A has reported in generation 4, worker B is late"""
    statuses.know(report("RUNNING", "A", 4))
    statuses.store.put_safe(report("UNASSIGNED", "B", 3))
    assert not statuses.log.sent, "a safe report that may not replace the known one is not written"
    statuses.store.put(report("RUNNING", "B", 3))
    assert statuses.states() == ["RUNNING"], (
        f"a report that is not safe is written in any case; sent: {statuses.states()}"
    )
    statuses.store.put_safe(report("FAILED", "B", 4))
    assert statuses.states() == ["RUNNING", "FAILED"], f"generation 4 is not lower: written; sent: {statuses.states()}"
    statuses.watch_entries()
    statuses.store.put_safe(report("PAUSED", "B", 5))


@pytest.mark.points(10, task=2)
def test_records(statuses, report):
    """Keys and values"""
    statuses.store.put(report("RUNNING", "A", 4))
    statuses.store.put(report("DESTROYED", "A", 4, of="x"))
    keys = [each.key for each in statuses.log.sent]
    assert keys == [b"status-task-x-0", b"status-connector-x"], f"a key for a task and for a connector; yours: {keys}"
    assert statuses.log.sent[0].value == b'{"state":"RUNNING","trace":null,"worker_id":"A","generation":4}', (
        f"state, trace, worker and generation; yours: {statuses.log.sent[0].value}"
    )
    assert statuses.log.sent[1].value is None, f"DESTROYED is a tombstone; yours: {statuses.log.sent[1].value}"
    sequences = [entry.sequence for entry in statuses.store._entries.values()]
    assert sequences == [1, 1], f"each write begun gives its entry another sequence number; yours: {sequences}"


@pytest.mark.points(10, task=2)
def test_errors(statuses, report, caplog):
    """Writes that fail"""
    statuses.store.put(report("RUNNING", "A", 4))
    statuses.log.end(0, statuses.never)
    assert len(statuses.log.sent) == 1, "an error that is not retriable is logged, the write is not repeated"
    statuses.store.put(report("PAUSED", "A", 4))
    statuses.log.end(1, statuses.again)
    statuses.log.end(2, statuses.again)
    assert statuses.states() == ["RUNNING", "PAUSED", "PAUSED", "PAUSED"], (
        f"a retriable error: the write is repeated, as often as it fails; sent: {statuses.states()}"
    )
    statuses.store.put(report("RUNNING", "A", 5))
    statuses.log.end(3, statuses.again)
    assert len(statuses.log.sent) == 5, (
        "generation 5 has begun: the write of generation 4 is not wanted, it is not repeated"
    )
    caplog.clear()
    statuses.log.end(4, None)
    assert caplog.messages == [], f"a write without an error is no failure: nothing is logged; yours: {caplog.messages}"
    statuses.store.put_safe(report("UNASSIGNED", "A", 5))
    statuses.log.end(5, statuses.again)
    assert len(statuses.log.sent) == 7, (
        "a safe write that nothing newer has followed is still wanted: repeat it; its sequence number is the new one"
    )
    try:
        statuses.log.end(6, OSError("no space left"))
    except AttributeError as error:
        pytest.fail(f"an error that is no ApiError is not retriable: log it; yours raised {error!r}")
    assert len(statuses.log.sent) == 7, "an error that is no ApiError is not retriable: the write is not repeated"
