"""Task 5: no wake-up is lost, and no byte is sent without need."""

import threading
import time

import pytest


class Watched:
    """Stands in for the selector below; records its timeouts, and runs what happens during select."""

    def __init__(self, meanwhile=lambda: None):
        self.timeouts_s, self._meanwhile = [], meanwhile

    def select(self, timeout_s):
        self.timeouts_s.append(timeout_s)
        self._meanwhile()
        return []

    def close(self):
        pass

    def unregister(self, _sock):
        pass


def bytes_sent(selector):
    try:
        return len(selector._wakeup_reader.recv(100))
    except BlockingIOError:
        return 0


@pytest.mark.points(3, task=5)
def test_milliseconds(selector):
    """250 ms are 0.25 s; and the flags afterwards"""
    selector._selector, below = Watched(), selector._selector
    selector._select(250)
    timeout_s = selector._selector.timeouts_s[0]
    below.close()
    assert timeout_s == 0.25, f"selectors wait in seconds: 250 ms are 0.25, not {timeout_s}"
    assert not selector._polling, "select has returned: _polling must be False again, or every wake-up costs a byte"


@pytest.mark.points(4, task=5)
def test_before_the_poll(selector):
    """wakeup while no thread sleeps"""
    selector.wakeup()
    count = bytes_sent(selector)
    assert count == 0, "no thread sleeps: record it (_wakeup_pending), a byte through the kernel is not needed"
    selector._selector, below = Watched(), selector._selector
    selector._select(9000)
    selector._select(9000)
    timeouts_s = selector._selector.timeouts_s
    below.close()
    assert timeouts_s[0] == 0, (
        f"a wake-up came before: do not sleep (0), but you sleep for {timeouts_s[0]} s: it is lost"
    )
    assert timeouts_s[1] == 9, "one wake-up ends one poll; the next poll may sleep"


@pytest.mark.points(4, task=5)
def test_while_it_sleeps(selector):
    """Three wake-ups for one sleeping thread"""
    selector._selector, below = Watched(lambda: [selector.wakeup() for _ in range(3)]), selector._selector
    selector._select(9000)
    below.close()
    count = bytes_sent(selector)
    assert count > 0, "the thread sleeps in select: a byte must wake it"
    assert count == 1, f"three wake-ups before the next poll need one byte, but you sent {count}"


class Ordered:
    """Notes, whenever one flag is read, whether the other one is set."""

    @property
    def _polling(self):
        self.seen.append(("_polling", self.__dict__["pending"]))
        return self.__dict__["polling"]

    @_polling.setter
    def _polling(self, value):
        self.__dict__["polling"] = value

    @property
    def _wakeup_pending(self):
        self.seen.append(("_wakeup_pending", self.__dict__["polling"]))
        return self.__dict__["pending"]

    @_wakeup_pending.setter
    def _wakeup_pending(self, value):
        self.__dict__["pending"] = value


@pytest.mark.points(2, task=5)
def test_write_then_check(selector):
    """Each thread sets its own flag before it reads the other's; and the byte does not fit"""
    selector.__dict__.update(pending=False, polling=False, seen=[])
    del selector.__dict__["_polling"], selector.__dict__["_wakeup_pending"]
    selector.__class__ = type("Watched", (Ordered, type(selector)), {})
    selector._selector, below = Watched(), selector._selector
    selector._select(0)
    below.close()
    seen = [other for flag, other in selector.seen if flag == "_wakeup_pending"]
    assert all(seen), "first set _polling, then check _wakeup_pending: a wake-up in between would see no thread to wake"
    selector.seen.clear()
    selector.wakeup()
    seen = [other for flag, other in selector.seen if flag == "_polling"]
    assert all(seen), "first set _wakeup_pending, then check _polling: a thread that goes to sleep in between sees none"
    selector._wakeup_pending, selector._polling = False, True
    selector._wakeup_writer.close()
    try:
        selector.wakeup()
    except OSError:
        pytest.fail("the byte cannot be sent: the thread wakes up anyway, or is gone, so ignore the OSError")


@pytest.mark.points(2, task=5)
def test_a_thread_is_woken(selector):
    """A thread sleeps in poll for a minute"""
    thread = threading.Thread(target=selector.poll, args=(60_000,), daemon=True)
    thread.start()
    deadline = time.monotonic() + 3
    while not selector._polling and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.001)
    selector.wakeup()
    thread.join(3)
    assert not thread.is_alive(), "wakeup was called, but the thread keeps sleeping in poll"
    started = time.monotonic()
    selector.poll(50)
    assert time.monotonic() - started > 0.02, "the last wake-up is still pending: poll returns at once"
