"""What a page plays: what a run changes, step by step, and the lines that run."""

import dataclasses
import json

from kafka_learn.drawing.run_steps import Changes, PlayedStep, source_line, to_json
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from tests.support.recorded_runs import small_run


def test_a_queue_counts_what_waits_in_it_and_a_file_has_its_last_event():
    changes = Changes(small_run())
    assert changes.until(3) == [("queue", "1")]
    assert changes.until(4) == [("queue", "0")]
    assert changes.until(9) == [("…0000.log", "append: position 0, 89 bytes")]
    assert changes.until(13) == []


def test_a_change_is_returned_once_and_its_last_value_wins():
    states = [
        Event(at, "main", Kind.STATE, "Partition", "ISR", detail={"before": at, "after": at + 1}) for at in (1, 2)
    ]
    changes = Changes(RecordedRun(tuple(states)))
    assert changes.until(2) == [("Partition: ISR", "3")]
    assert changes.until(2) == []


def test_hidden_events_change_nothing():
    assert Changes(small_run(), ["FileMessageSet", "queue", "put", "take"]).until(13) == []


def test_the_steps_as_json_have_the_text_of_the_line_and_may_stand_in_html():
    source = next(number for number in range(1, 60) if "class Event" in source_line(f"{PLACE}:{number}")[2])
    step = PlayedStep("Log: </script>", [0, 2], 12.345, f"{PLACE}:{source}", [("LEO", "3")])
    text = to_json(["Log"], [step, PlayedStep("Log: roll", [0], 40)])
    assert "<" not in text
    assert json.loads(text) == {
        "lanes": ["Log"],
        "steps": [
            {
                "words": "Log: </script>", "lanes": [0, 2], "at": 12.3,
                "source": [PLACE, source, "class Event:"], "changes": [["LEO", "3"]],
            },
            {"words": "Log: roll", "lanes": [0], "at": 40},
        ],
    }  # fmt: skip


PLACE = "kafka_learn/recording/recorded_run.py"


def test_words_are_translated():
    run = small_run()
    queue = dataclasses.replace(
        run, events=tuple(dataclasses.replace(e, what="request queue") for e in run.events[2:3])
    )
    assert Changes(queue, language="zh").until(1) == [("请求队列", "1")]
