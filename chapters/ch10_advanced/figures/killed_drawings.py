"""A table of what readers see after a program was killed, and after it has run again. Book 10.3, 4.4.4."""

from __future__ import annotations

from chapters.ch10_advanced.figures.killed_runs import COMMITTED, CONSUMED, DECIDED, LOST, OFFSETS, SENT
from kafka_learn.drawing.svg import PALETTE, Canvas
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.run_store import recorded_run

ROW, FONT = 30, 12
WIDTHS = (250, 105, 125, 75, 105, 125, 75)
GREEN, ORANGE = PALETTE[2], PALETTE[1]
_WORDS = {
    "en": {
        "head": ("killed after", "read_committed", "read_uncommitted", "offset"),
        "dead": "when it is dead", "alive": "when it has run again",
        CONSUMED: "poll", SENT: "send", OFFSETS: "send_offsets_to_transaction", LOST: "commit: EndTxn does not arrive",
        DECIDED: "commit: PrepareCommit is written", COMMITTED: "commit: all markers are written",
    },
    "zh": {
        "head": ("在哪一步之后被杀", "read_committed", "read_uncommitted", "偏移量"),
        "dead": "死后", "alive": "再次运行之后",
        CONSUMED: "poll", SENT: "send", OFFSETS: "send_offsets_to_transaction", LOST: "提交：EndTxn 没有到达",
        DECIDED: "提交：PrepareCommit 已写入", COMMITTED: "提交：标记全部写好",
    },
}  # fmt: skip


def killed_table(language: str) -> str:
    """The table of ``killed_at_each_step`` as SVG."""
    return draw_deaths(recorded_run("chapters.ch10_advanced.figures.killed_runs:killed_at_each_step"), language)


def draw_deaths(run: RecordedRun, language: str = "en") -> str:
    """A row for each death. Green: as without a death. Orange: read_uncommitted sees what is not committed."""
    words, canvas = _WORDS[language], Canvas()
    lefts = [sum(WIDTHS[:column]) for column in range(len(WIDTHS))]
    for name, column in (("dead", 1), ("alive", 4)):
        width = sum(WIDTHS[column : column + 3])
        canvas.text((lefts[column] + width / 2, 20), str(words[name]), size=FONT, anchor="middle", bold=True)
    step, *seen = words["head"]
    canvas.text((0, ROW + 20), step, size=FONT, bold=True)
    for column, name in enumerate((*seen, *seen), 1):
        canvas.text((lefts[column] + WIDTHS[column] / 2, ROW + 20), name, size=FONT, anchor="middle")
    rows = [event for event in run if event.kind is Kind.NOTE]
    for row, event in enumerate(rows, 2):
        canvas.text((0, row * ROW + 20), str(words[event.what]), size=FONT)
        for left, name in ((1, "dead"), (4, "alive")):
            committed, uncommitted, offset = event.detail[name]
            colours = (GREEN, GREEN if committed == uncommitted else ORANGE, GREEN)
            for column, (value, colour) in enumerate(zip((committed, uncommitted, offset), colours, strict=True), left):
                if value != "–":
                    place, size = (lefts[column] + 2, row * ROW + 2), (WIDTHS[column] - 4, ROW - 4)
                    canvas.box(place, size, fill=colour, stroke=colour, opacity=0.3, radius=3)
                canvas.text((lefts[column] + WIDTHS[column] / 2, row * ROW + 20), value, size=FONT, anchor="middle")
    return canvas.svg(
        sum(WIDTHS),
        (len(rows) + 2) * ROW + 4,
        f"What is seen after {len(rows)} deaths, and after the program has run again",
    )
