"""Topics of a cluster: new and deleted ones at once, grown ones after an hour."""

from __future__ import annotations

from tests.support.ureplicator import FakeMirror, FakeTopics


def test_topics_are_read_and_followed(mirror: FakeMirror) -> None:
    topics = FakeTopics(t=3)
    observer = mirror.observe(topics)
    assert observer.topics() == {"t": 3}
    topics.create("u", 2)
    topics.delete("t")
    mirror.pass_s(0)
    assert observer.topics() == {"u": 2}
    assert (observer.num_partitions("u"), observer.num_partitions("t")) == (2, None)


def test_only_new_topics_are_read_at_a_change(mirror: FakeMirror) -> None:
    topics = FakeTopics(t=3)
    mirror.observe(topics)
    topics.create("u", 2)
    mirror.pass_s(0)
    assert topics.reads == [["t"], ["u"]]


def test_an_expansion_is_noticed_after_an_hour(mirror: FakeMirror) -> None:
    topics = FakeTopics(t=3)
    observer = mirror.observe(topics)
    topics.create("t", 5)
    mirror.pass_s(3599)
    assert observer.topics() == {"t": 3}
    mirror.pass_s(1)
    assert observer.topics() == {"t": 5}


def test_a_cluster_without_brokers_so_far_is_looked_at_again(mirror: FakeMirror) -> None:
    topics = FakeTopics()
    observer = mirror.observe(topics)
    topics.topics["t"] = 1  # and no watch could be set
    mirror.pass_s(600)
    assert observer.topics() == {"t": 1}


def test_a_topic_that_cannot_be_read_is_left_out(mirror: FakeMirror) -> None:
    class Unreadable(FakeTopics):
        def get_topic_assignments(self, topics):  # type: ignore[no-untyped-def]
            return super().get_topic_assignments(set(topics) - {"bad"})

    assert mirror.observe(Unreadable(bad=1, t=2)).topics() == {"t": 2}
