"""Recorded runs of the page *What came after the book* show what it says about them."""

from __future__ import annotations

import re

from chapters.after_the_book.figures import (
    modern_group_runs,
    second_version_runs,
    shared_partition_runs,
    topic_id_runs,
)
from kafka_learn.drawing.run_words import phrase
from kafka_learn.recording.recorded_run import Kind, RecordedRun


def said(run: RecordedRun, who: str) -> list[str]:
    """What a lane sends and notes."""
    events = [event for event in run if event.who == who and event.kind in (Kind.PUT, Kind.NOTE)]
    return [f"{event.what}: {event.detail['says']}" if "says" in event.detail else event.what for event in events]


def test_a_reader_by_name_goes_on_in_another_topic_and_one_by_id_is_told() -> None:
    by_name, by_id = topic_id_runs.read_by_name(), topic_id_runs.read_by_id()
    assert said(by_name, "broker")[-1] == "Fetch response: new 2"
    assert said(by_id, "broker")[-3:] == [
        "Fetch response: UNKNOWN_TOPIC_ID",
        "Metadata response: an id",
        "Fetch response: new 0, new 1, new 2",
    ]


def test_only_the_member_that_gives_up_a_partition_notices_that_a_third_joins() -> None:
    run = modern_group_runs.third_member_of_modern_group()
    told = {name: [each for each in said(run, name) if each.startswith("on_")] for name in ("ann", "bob", "cid")}
    (revoked,) = [words for name in ("ann", "bob") for words in told[name]]
    moved = revoked.removeprefix("on_partitions_revoked ")
    assert told["cid"] == [f"on_partitions_assigned {moved}"]
    steps = said(run, "ConsumerGroup")
    gives_up = next(at for at, each in enumerate(steps) if each.endswith(f"gives up {moved}"))
    gets = next(at for at, each in enumerate(steps) if each == f"cid: epoch 3, STABLE, has {moved}")
    assert gives_up < gets
    assert "epoch 2, UNREVOKED_PARTITIONS" in steps[gives_up]


def test_a_second_consumer_of_one_partition_reads_nothing_until_the_first_is_gone() -> None:
    run = shared_partition_runs.two_readers_of_one_partition()
    assert [each for each in said(run, "ann") if each.startswith("reads")] == ["reads 0 1 2", "reads 3 4 5"]
    assert [each for each in said(run, "bob") if each.startswith("reads")] == ["reads 0 1 2", "reads 3 4 5"]
    names = [(event.who, event.what) for event in run]
    assert names.index(("GroupMetadata", "− ann")) < names.index(("bob", "reads 0 1 2"))


def test_two_members_of_a_share_group_read_one_partition() -> None:
    run = shared_partition_runs.two_members_of_one_partition()
    assert said(run, "SharePartition") == [
        "acquired: 0–2, delivery 1",
        "acquired: 3–5, delivery 1",
        "acquired: 1, delivery 2",
        "clock: + 31 s",
        "the lock of 3–5 expires",
        "acquired: 3–5, delivery 2",
    ]
    assert said(run, "ann") == [
        "acknowledge: 0–2 accept release reject",
        "acknowledge: 1 accept",
        "acknowledge: 3–5 accept",
    ]


def test_leaders_add_partitions_and_a_late_batch_is_refused() -> None:
    run = second_version_runs.transaction_of_second_version()
    assert "AddPartitionsToTxn: demo-0" in said(run, "leader of demo-0")
    assert said(run, "leader of demo-0")[-1] == "INVALID_PRODUCER_EPOCH"
    assert said(run, "coordinator") == ["EndTxn response: epoch 1"]
    assert not [each for each in said(run, "producer") if each.startswith("Add")]


def test_the_phrases_of_the_runs_have_chinese_words() -> None:
    runs = [modern_group_runs.third_member_of_modern_group(), topic_id_runs.read_by_id()]
    english = [
        text
        for run in runs
        for event in run
        for text in (event.what if event.kind is Kind.NOTE else "", str(event.detail.get("says", "")))
        if re.search("epoch|offset|has|id", text) and not text.startswith("on_")
    ]
    assert english
    left = [each for each in english if re.search(r"epoch|offset|has |its id", phrase(each, "zh"))]
    assert left == []
