"""The recorded run of Helix shows what its page says about it."""

from __future__ import annotations

from chapters.ch08_pipelines.figures.helix_runs import from_message_to_external_view
from kafka_learn.recording.recorded_run import Kind


def test_the_current_state_is_written_between_the_message_and_its_deletion() -> None:
    calls = [event for event in from_message_to_external_view() if event.kind is Kind.CALL]
    steps = [event.what for event in calls]
    assert steps == [
        *("add_resource", "apply"),
        *("_run_pipeline", "apply"),
        *("_take_messages", "apply", "on_become_online_from_offline", "apply"),
        *("_run_pipeline", "apply"),
    ]
    writes = [list(event.detail.values()) for event in calls if event.what == "apply"]
    assert writes == [
        ["create CONFIGS/RESOURCE/t", "put IDEALSTATES/t 0: w1 ONLINE"],
        ["create INSTANCES/w1/MESSAGES ONLINE new"],
        ["create INSTANCES/w1/CURRENTSTATES/SESSION/t", "put INSTANCES/w1/MESSAGES ONLINE read"],
        ["put INSTANCES/w1/CURRENTSTATES/SESSION/t 0: ONLINE", "delete INSTANCES/w1/MESSAGES"],
        ["put EXTERNALVIEW/t 0: w1 ONLINE"],
    ]
