"""The recorded run of uReplicator's worker shows what its page says about it."""

from __future__ import annotations

from chapters.ch08_pipelines.figures.ureplicator_worker_runs import HELIX_THREAD, come_and_go
from kafka_learn.recording.recorded_run import Kind


def test_a_partition_comes_and_another_one_goes_with_its_offset() -> None:
    run = come_and_go()
    calls = [event for event in run if event.kind is Kind.CALL]
    helix = [event.what for event in calls if event.thread == HELIX_THREAD]
    assert helix == [
        *("_become_online", "add_topic_partition", "fetch_offsets", "add_topic_partition"),
        *("_become_offline", "delete_topic_partition", "remove_topic_partition", "give_up", "flush", "commit_offsets"),
    ]
    (commit,) = (event for event in calls if event.what == "commit_offsets")
    assert commit.detail["demo-0"] == 3
    changes = [event for event in calls if event.what == "change_partitions"]
    assert [event.detail for event in changes] == [{"added": "demo-1"}, {"removed": "demo-0"}]
    assert len({event.thread for event in changes}) == 1, "the fetcher goes round"
