"""The pauses on the page about uReplicator's worker: a new topic stops the others of MirrorMaker only."""

from __future__ import annotations

import pytest

from chapters.ch08_pipelines.figures import mirror_pauses
from chapters.ch08_pipelines.figures.mirror_pauses import ADDING, PARTITIONS, QUIET, SEED
from kafka_learn.recording.simulated_run import recorded_in_world

pytestmark = [pytest.mark.soak, pytest.mark.nightly]

HEARTBEAT_MS = 3_000


def pauses(function: str) -> dict[str, list[int]]:
    run = recorded_in_world(f"{mirror_pauses.__name__}:{function}", seed=SEED)
    return {when: [event.detail["ms"] for event in run if event.what == when] for when in (QUIET, ADDING)}


def test_a_new_topic_stops_the_others_of_mirror_maker_until_the_last_member_has_joined() -> None:
    found = pauses("mirror_maker")
    assert len(found[ADDING]) == PARTITIONS
    assert max(found[QUIET]) < 1_000
    assert max(found[ADDING]) > HEARTBEAT_MS


def test_a_new_topic_stops_none_of_ureplicator() -> None:
    found = pauses("ureplicator")
    assert len(found[ADDING]) == PARTITIONS
    assert max(found[ADDING]) < 1_000
