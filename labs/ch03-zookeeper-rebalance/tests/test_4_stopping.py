"""Task 4: afterwards nothing more is consumed, and what was consumed is committed."""

import pytest


def stop(member):
    member.listener._close_fetchers(member.listener.queues.values())


@pytest.mark.points(6, task=4)
def test_the_order_of_the_steps(group):
    """Fetchers, queues and streams, commit"""
    a = group.member("a").owns({0: 10, 1: 11})
    before, seen, retries = a.infos, [], []
    commit = a.offsets.commit_offsets

    def look_and_commit(offsets, retry_on_failure):
        seen.extend(info.is_revoked for info in before.values())
        retries.append(retry_on_failure)
        return commit(offsets, retry_on_failure)

    a.offsets.commit_offsets = look_and_commit
    stop(a)
    place = {step: a.steps.index(step) for step in a.steps}
    wanted = ("fetchers stop", "queues are emptied", "streams are emptied", "commit")
    missing = [step for step in wanted if step not in place]
    assert not missing, f"every step: {', '.join(wanted)}; yours lacks: {', '.join(missing)}"
    for first, second, why in (
        ("fetchers stop", "queues are emptied", "a running fetcher fills the queues again"),
        ("queues are emptied", "commit", "a stream would return more after the commit"),
        ("streams are emptied", "commit", "the rest of its chunk would be returned after the commit"),
    ):
        assert place[first] < place[second], f"{first} first, then {second}: {why}; yours: {', '.join(a.steps)}"
    assert seen == [True, True], (
        "revoke() before the commit: a stream in the middle of a chunk would return more messages, "
        "which are then consumed twice"
    )
    assert retries == [False], (
        "retry_on_failure=False: the others wait for these partitions, and a commit that fails may be tried for minutes"
    )


@pytest.mark.points(4, task=4)
def test_what_is_committed(group):
    """0 is consumed up to 10 and fetched up to 60; 1 is unknown; 2 is consumed up to 0"""
    a = group.member("a").owns({0: -1, 1: -1, 2: -1})
    for number, consumed, fetched in ((0, 10, 60), (2, 0, 50)):
        a.infos[number].reset_consume_offset(consumed)
        a.infos[number].reset_fetch_offset(fetched)
    found = {str(partition): offset for partition, offset in a.listener.consumed_offsets().items()}
    assert "t-1" not in found, "the offset of 1 is unknown: -1 is no offset, and must not be committed as one"
    assert found == {"t-0": 10, "t-2": 0}, (
        f"10 and 0 were consumed; what is queued up to 60 is for the next owner; yours: {found}"
    )
    stop(a)
    committed = group.committed()
    assert committed == [10, None, 0, None], f"this is what the znodes must have, not {committed}"


@pytest.mark.points(3, task=4)
def test_without_auto_commit(group):
    """auto.commit.enable=false, and only one of two queues is to be cleared"""
    a = group.member("a", threads=2, auto_commit_enable=False).owns({0: 10})
    a.infos[0].reset_consume_offset(20)
    first, second = a.listener.queues.values()
    for queue in (first, second):
        queue.put("a chunk")
    a.listener._close_fetchers([first])
    lengths = (len(first), len(second))
    assert lengths == (0, 1), f"the given queues are cleared, and no others: (0, 1), not {lengths}"
    a.listener._close_fetchers(each for each in (first, second))
    lengths = (len(first), len(second))
    assert lengths == (0, 0), f"all queues that are given are cleared: (0, 0), not {lengths}"
    assert group.committed() == [None] * 4, f"here the user commits, not you; the znodes: {group.committed()}"
    assert "fetchers stop" in a.steps, "all other steps happen as usual"


class CountedStream:
    """A stream that counts how often it is cleared."""

    cleared = 0

    def clear(self):
        self.cleared += 1


@pytest.mark.points(2, task=4)
def test_every_stream_is_emptied(group):
    """Two streams of t, two of u"""
    a = group.member("a").owns({0: 10})
    a.listener.streams = {topic: [CountedStream(), CountedStream()] for topic in ("t", "u")}
    stop(a)
    left = [
        f"stream {number} of {topic}"
        for topic, streams in a.listener.streams.items()
        for number, stream in enumerate(streams)
        if not stream.cleared
    ]
    assert not left, f"every stream of every topic is emptied: {', '.join(left)} would still return messages"
