"""Task 4: poll and stop."""

import threading

import pytest


class Waits:
    """In the place of the event: notes how long somebody wants to wait."""

    def __init__(self):
        self.waits = []

    def wait(self, timeout=None):
        self.waits.append(timeout)

    def set(self):
        self.waits.append("set")


@pytest.mark.points(10, task=4)
def test_polls(task, names):
    """Two files with rows, then nothing"""
    reading = task("rivers.csv,towns.csv")
    reading._stopping = waits = Waits()
    assert names(reading.poll()) == ["Rhine"], "the first file that has rows"
    found = [names(reading.poll()), names(reading.poll())]
    assert found == [["Ulm", "Bonn"], ["Kiel"]], f"then the second file, in batches; yours: {found}"
    assert not waits.waits, f"rows are returned at once, without a wait; yours waited {waits.waits}"
    assert reading.poll() is None, "no rows: None"
    assert waits.waits == [1], (
        f"without rows it waits a second, on self._stopping, or it keeps a processor busy: {waits.waits}"
    )


@pytest.mark.points(10, task=4)
def test_stop(task):
    """A poll that waits is stopped"""
    reading = task("lakes.csv")
    waiting = threading.Thread(target=reading.poll, daemon=True)
    waiting.start()
    reading.stop()
    assert reading._stopping.is_set(), "stop ends the wait in poll: set self._stopping"
    waiting.join(30)
    assert reading.poll() is None, "a task that is stopped has no rows"
