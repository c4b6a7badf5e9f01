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
        writes[2],
        [writes[3][0], "delete INSTANCES/w1/MESSAGES"],
        ["put EXTERNALVIEW/t 0: w1 ONLINE"],
    ]
    assert writes[2][-1] == "put INSTANCES/w1/MESSAGES ONLINE read"
    assert writes[3][0].startswith("put INSTANCES/w1/CURRENTSTATES/")
    assert writes[3][0].endswith("/t 0: ONLINE")
