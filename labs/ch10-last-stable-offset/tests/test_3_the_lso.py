"""Task 3: how far readers of committed records may go."""

import pytest

OPEN = [(0, "a"), (7, "b"), (9, "c"), (9, "COMMIT")]


@pytest.mark.points(10, task=3)
def test_without_transactions(log_with):
    """No transaction, or all decided"""
    log = log_with((0, "a"), (0, "b"))
    found = log.last_stable_offset(1)
    assert found == 1, f"no transaction: the high watermark, 1, not {found}"
    log = log_with((7, "a"), (7, "ABORT"), (0, "b"))
    found = log.last_stable_offset(3)
    assert found == 3, f"an aborted transaction is decided, too: the high watermark, 3, not {found}"
    found = log.last_stable_offset(2)
    assert found == 2, f"the record at 2 is not replicated: the high watermark, 2, not the end of the log; not {found}"


@pytest.mark.points(10, task=3)
def test_an_open_transaction(log_with, marker):
    """Open since 1; another one behind it is committed; then one that is open since 0"""
    log = log_with(*OPEN)
    found = log.last_stable_offset(4)
    assert found == 1, f"producer 7 has a transaction open since 1: all from there on waits; 1, not {found}"
    found = log.last_stable_offset(0)
    assert found == 0, f"nothing is replicated: the LSO never exceeds the high watermark; 0, not {found}"
    log.append_as_follower(marker(4, 7))
    found = log.last_stable_offset(4)
    assert found == 1, f"the marker at 4 is not replicated: another leader may never have seen it; 1, not {found}"
    found = log.last_stable_offset(5)
    assert found == 5, f"both markers are replicated: the high watermark, 5, not {found}"
    found = log_with((7, "a"), (0, "b")).last_stable_offset(2)
    assert found == 0, f"the very first record, at 0, is undecided: 0 is an offset, not None; 0, not {found}"


@pytest.mark.points(10, task=3)
def test_deleted_records(log_with):
    """The first records of the open transaction are gone"""
    log = log_with(*OPEN)
    log.maybe_increment_log_start_offset(3)
    found = log.last_stable_offset(4)
    assert found == 3, f"the log starts at 3, and an offset below it is out of range: 3, not {found}"
