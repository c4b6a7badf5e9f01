"""A run of the simulator as a time line: which processes run when, what goes wrong, and which promise is broken."""

from __future__ import annotations

from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.run_words import lane_name, phrase
from kafka_learn.drawing.svg import PALETTE
from kafka_learn.drawing.time_line import Lane, Span, TimeLine
from kafka_learn.recording.recorded_run import CallSpan, RecordedRun
from kafka_learn.recording.world_watch import FAULTS, LIFE, PAUSED, PROMISES

LIVES, TROUBLE, BROKEN = PALETTE[0], PALETTE[1], PALETTE[4]
COLOURS = {FAULTS: TROUBLE, PROMISES: BROKEN}


@with_chinese_twin
def world_time_line(run: RecordedRun, *, language: str = "en") -> TimeLine:
    """Draw the spans of a run that ``world_watch`` has recorded, processes in the order of its lanes."""
    spans = [call for call in run.calls() if call.begin.who == LIFE and call.end is not None]
    names = dict.fromkeys(
        [*(lane for lane in run.lanes if lane not in COLOURS), *(call.begin.thread for call in spans)]
    )
    order = [*(name for name in names if name not in COLOURS), FAULTS, PROMISES]
    lanes = [_lane(name, [call for call in spans if call.begin.thread == name], language) for name in order]
    return TimeLine(run, [lane for lane in lanes if lane.spans], language)


def _lane(name: str, calls: list[CallSpan], language: str) -> Lane:
    lane = Lane(lane_name(name, language))
    for call in calls:
        assert call.end is not None
        begin_ns, end_ns, what = call.begin.time_ns, call.end.time_ns, call.begin.what
        is_pause = what == PAUSED
        depth = sum(span.end_ns > begin_ns for span in lane.spans) if name in COLOURS or is_pause else 0
        label = phrase(what.partition(" for ")[0], language)  # without how long it lasted: that can be seen
        lane.spans.append(Span(begin_ns, end_ns, label, depth, COLOURS.get(name, LIVES), hollow=is_pause))
    return lane
