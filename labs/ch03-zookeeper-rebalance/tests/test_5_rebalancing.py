"""Task 5: members that agree without exchanging messages."""

import threading

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.common.errors import KafkaError

ALL = [0, 1, 2, 3]
EMPTIED = "queues and streams are emptied"
STEPS = ["fetchers stop", EMPTIED, "commit", "release", "offsets are read", "claim", "fetchers start"]


class Ending(threading.Event):
    """A consumer that begins to shut down as soon as it waits."""

    def __init__(self, member):
        super().__init__()
        self._member = member
        self.waits, self.fetching, self.locked = [], [], []

    def wait(self, timeout=None):
        self.waits.append(timeout)
        self.fetching.append(self._member.fetcher.fetching)
        self.locked.append(self._member.listener.rebalance_lock._is_owned())
        self.set()
        return True


@pytest.mark.points(2, task=5)
def test_step_by_step(group, listener_class):
    """a is alone: from offsets to offsets"""
    a = group.member("a")
    fetched = a.rebalance()
    assert fetched == ALL, f"a is alone: it fetches all four, not {fetched}"
    assert group.owners() == ["g_a-0"] * 4, f"and owns them: {group.owners()}"
    a.consume(10)
    told = a.listener.consumer_rebalance_listener = listener_class(group)
    a.steps.clear()
    a.rebalance()
    steps = list(dict.fromkeys(EMPTIED if "emptied" in step else step for step in a.steps))
    assert steps == STEPS, (
        f"again, step by step: {', '.join(STEPS)}. Others may own a partition only after you have "
        f"committed, and you may fetch it only while you own it. Yours: {', '.join(steps)}"
    )
    offsets = [info.consume_offset for info in a.infos.values()]
    assert offsets == [10] * 4, f"it continues at the commit: {offsets}"
    wanted = dict.fromkeys(ALL, "g_a-0")
    assert told.assigned == [wanted], f"the user's listener gets the whole assignment: {wanted}, not {told.assigned}"


@pytest.mark.points(1, task=5)
def test_the_end_of_the_consumer_during_a_rebalance(group):
    """The consumer is closed while the offsets are read"""
    a = group.member("a")
    fetch = a.offsets.fetch_offsets

    def close_and_fetch(partitions):
        a.is_shutting_down.set()
        return fetch(partitions)

    a.offsets.fetch_offsets = close_and_fetch
    assert not a.fails(), "a consumer that is closed does not fail, it just ends"
    assert group.owners() == [None] * 4, (
        f"the consumer was closed while you read the offsets: claim nothing, for nobody would release it until the "
        f"session is over; the znodes: {group.owners()}"
    )
    assert a.fetcher.fetching == [], f"nothing is fetched for a consumer that was closed: not {a.fetcher.fetching}"


@pytest.mark.points(2, task=5)
def test_two_members_compete(group):
    """a owns all, b joins and is faster; then three at once"""
    a = group.member("a", rebalance_backoff_ms=5, rebalance_max_retries=200)
    a.rebalance()
    a.consume(10)
    b = group.member("b", rebalance_max_retries=1)
    assert b.fails(), (
        "a has 2 and 3, and does not know of b yet: b cannot own them, and fails when its attempts are used up"
    )
    assert (b.fetcher.fetching, group.owners()) == ([], ["g_a-0"] * 4), (
        f"so b fetches nothing ({b.fetcher.fetching}), and a owns all: {group.owners()}"
    )
    assert b.infos == {}, (
        f"b owns nothing, and must not commit for a: it has {sorted(b.infos)} in its registry, though the claim failed"
    )
    fetched = a.rebalance()
    assert fetched == [0, 1], f"a knows of b, and keeps 0 and 1; it fetches {fetched}"
    assert group.owners() == ["g_a-0", "g_a-0", None, None], (
        f"a releases all four, and claims 0 and 1 again: then 2 and 3 are free; the znodes: {group.owners()}"
    )
    assert b.rebalance() == [2, 3], f"now 2 and 3 are free; b fetches {b.fetcher.fetching}"
    begins = [info.consume_offset for info in b.infos.values()]
    assert begins == [10, 10], f"b starts where a has committed, at 10, not at {begins}"
    c = group.member("c", rebalance_backoff_ms=5, rebalance_max_retries=200)
    threads = [threading.Thread(target=each.rebalance, daemon=True) for each in (c, a)]
    for thread in threads:
        thread.start()
    b.rebalance()
    for thread in threads:
        thread.join(8)
    shares = [each.fetcher.fetching for each in (a, b, c)]
    assert shares == [[0, 1], [2], [3]], (
        f"three at once, each retrying until it has its partitions; they fetch {shares}"
    )
    owners = group.owners()
    assert owners == ["g_a-0", "g_a-0", "g_b-0", "g_c-0"], f"and the znodes have the same; they have {owners}"


@pytest.mark.points(3, task=5)
def test_one_member_dies(group):
    """b has committed 20, has consumed up to 30, and its session expires"""
    a, b = group.member("a"), group.member("b")
    a.rebalance()
    b.rebalance()
    b.consume(20)
    b.rebalance()
    b.consume(30)
    b.die()
    fetched = a.rebalance()
    assert fetched == ALL, f"b's znodes disappeared with its session: a takes over 2 and 3, and fetches {fetched}"
    begins = [a.infos[number].consume_offset for number in (2, 3)]
    assert begins == [20, 20], f"and it starts at b's last commit: 20 to 29 are consumed twice; it starts at {begins}"


@pytest.mark.points(3, task=5)
def test_retries(group, listener_class):
    """Two attempts fail, then all of them; then a user's listener raises"""
    a = group.member("a", rebalance_max_retries=3)
    a.offsets.failures = [KafkaError("no answer"), None]
    assert a.rebalance() == ALL, f"the third attempt succeeds; a fetches {a.fetcher.fetching}"
    a.offsets.failures = [KafkaError("no answer")] * 4
    assert a.fails(), "rebalance.max.retries=3: the fourth attempt would succeed, but after three there is an error"
    left = len(a.offsets.failures)
    assert left == 1, f"three attempts, not {4 - left}"
    assert a.fetcher.fetching == [], f"a owns nothing now, so it fetches nothing; it fetches {a.fetcher.fetching}"
    a.offsets.failures = []
    a.listener.consumer_rebalance_listener = listener_class(group, [ValueError("of the user's")])
    try:
        fetched = a.rebalance()
    except ValueError:
        fetched = "nothing: the error was raised instead of retried"
    assert fetched == ALL, (
        "an exception of the user's listener is one failed attempt, or a's partitions are not "
        f"consumed; a fetches {fetched}"
    )


@pytest.mark.points(3, task=5)
def test_after_a_failed_attempt(group):
    """The members cannot be read; and the consumer shuts down while it waits for the next attempt"""
    a = group.member("a", rebalance_backoff_ms=250)
    a.rebalance()
    a.listener._is_shutting_down = end = Ending(a)

    def no_response(_group):
        raise KafkaError("no answer")

    a.listener._groups.get_registrations = no_response
    assert not a.fails(), "a consumer that shuts down need not rebalance any more, and that is no error"
    assert end.waits == [0.25], (
        "between two attempts, wait for rebalance.backoff.ms, in seconds, on _is_shutting_down, so "
        f"that a shutdown ends the wait; yours waited for {end.waits}"
    )
    assert end.locked == [True], (
        "rebalance_lock is held from the first attempt to the last: otherwise an event that comes during the wait "
        "rebalances beside you"
    )
    assert end.fetching == [[]], (
        "wherever the attempt failed, the fetchers stop until the next one: the partitions may "
        f"belong to others; during the wait a fetched {end.fetching[0]}"
    )


@pytest.mark.points(1, task=5)
def test_one_rebalance_at_a_time(group):
    """The lock is held from the first attempt to the last"""
    a = group.member("a", threads=2)
    for queue in a.listener.queues.values():
        queue.put("a chunk")
    with touched_only_with(a.listener, "rebalance_lock", state=["topic_registry"], within=["synced_rebalance"]):
        a.rebalance()
    lengths = [len(queue) for queue in a.listener.queues.values()]
    assert lengths == [0, 0], f"a rebalance clears the queues of all threads: {lengths} chunks are left"


@pytest.mark.points(1, task=5)
def test_the_users_listener_comes_before_the_fetchers(group, listener_class):
    """A listener that looks at what is fetched, and owned, when it is called"""
    a = group.member("a")
    told = a.listener.consumer_rebalance_listener = listener_class(group)
    seen = []
    told.before_starting_fetchers = lambda *_: seen.append((list(a.fetcher.fetching), sorted(a.infos)))
    a.rebalance()
    assert seen, "the user's listener is told before the fetchers start"
    fetching, owned = seen[0]
    assert fetching == [], f"the listener is called before the fetchers start, but {fetching} were fetched by then"
    assert owned == ALL, f"the registry has all four before the listener is called, which may commit: not {owned}"


@pytest.mark.points(2, task=5)
def test_without_a_broker(group):
    """The only broker disappears and returns"""
    a = group.member("a")
    a.rebalance()
    group.broker_goes()
    a.steps.clear()
    rung = threading.Event()
    a.listener.rebalance_event_triggered = rung.set
    fetched = a.rebalance()
    assert a.steps == [], f"without any broker there is nothing to assign: change nothing; you did: {a.steps}"
    assert fetched == ALL, f"it succeeds, and a keeps what it had; a fetches {fetched}"
    group.broker_comes()
    assert rung.wait(5), (
        "a broker has registered, but a does not notice: watch_broker_ids, with rebalance_event_triggered"
    )


@pytest.mark.points(2, task=5)
def test_the_last_attempt_and_the_shutdown(group):
    """Offsets that cannot be read; then the consumer shuts down after its last attempt"""
    a = group.member("a", rebalance_max_retries=1)
    a.offsets.failures = [None]
    try:
        found = a.listener._rebalance()
    except (TypeError, AttributeError) as error:
        pytest.fail(f"fetch_offsets returned None, which it does while the consumer shuts down: return False; {error}")
    assert found is False, f"without offsets the attempt has failed: False, not {found}"
    assert group.owners() == [None] * 4, (
        f"offsets come before the claim: nothing is claimed; the znodes {group.owners()}"
    )
    a.listener._is_shutting_down = Ending(a)
    a.offsets.failures = [None]
    assert not a.fails(), "the consumer shuts down after its last attempt, so it need not rebalance: no error"
