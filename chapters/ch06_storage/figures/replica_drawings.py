"""Films of replicas: the logs, high watermarks and ISR of one partition after each step.

Nothing is drawn by hand: each scene lets real brokers without threads (``ReplicasByHand``) do its steps, and draws what
their logs and replicas have after each of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from kafka_learn.both_languages import chinese_twin, with_chinese_twin
from kafka_learn.drawing.svg import BACKGROUND, PALETTE, Canvas, text_width
from kafka_learn.recording.replicas_by_hand import Frame, ReplicasByHand, ReplicaView

BOOKS_KAFKA = "0.10.2"
_STEP_WIDTH = 210
_CELL, _HEIGHT = 24, 22
_ROW = 58
_TOP = 50
_LAG_S = 11
"""More than replica.lag.time.max.ms."""
_CHECKPOINT_S = 6
"""More than replica.high.watermark.checkpoint.interval.ms."""

_WORDS = {
    "en": {
        "begin": "all are in sync",
        "produce": "a producer sends {}", "fetch": "broker {} fetches", "lead": "broker {} leads",
        "kill": "broker {} dies", "stop": "broker {} stops", "start": "broker {} starts again", "clock": "{} s pass",
        "broker": "broker {}", "leads": "leads", "in sync": "in sync", "out": "out of the ISR", "down": "down",
        "knows": "knows: {}", "epoch": "appended in leader epoch {}", "hw": "high watermark",
    },
    "zh": {
        "begin": "全部同步",
        "produce": "生产者发送 {}", "fetch": "broker {} 拉取", "lead": "broker {} 成为主副本",
        "kill": "broker {} 崩溃", "stop": "broker {} 停止", "start": "broker {} 重新启动", "clock": "过去 {} 秒",
        "broker": "broker {}", "leads": "主副本", "in sync": "在 ISR 中", "out": "不在 ISR 中", "down": "已停止",
        "knows": "已知：{}", "epoch": "在主副本纪元 {} 追加", "hw": "高水位",
    },
}  # fmt: skip


class ReplicaFilm:
    """Draws frames: a row for each step, a column for each broker."""

    def __init__(self, frames: Sequence[Frame], language: str = "en") -> None:
        self.frames = frames
        self.chinese: Callable[[], str] | None = None
        self._words = _WORDS[language]
        brokers = list(frames[-1].views) if frames else []
        longest = max((len(v.values) for frame in frames for v in frame.views.values()), default=0)
        column = max(longest * _CELL + 34, 150)
        self._columns = {broker: _STEP_WIDTH + index * column for index, broker in enumerate(brokers)}
        self._width = _STEP_WIDTH + column * len(brokers)

    def svg(self) -> str:
        """The film as one ``<svg>`` element."""
        canvas = Canvas()
        self._draw_legend(canvas)
        for broker, x in self._columns.items():
            canvas.text((x, _TOP - 8), self._words["broker"].format(broker), bold=True)
        for number, frame in enumerate(self.frames):
            y = _TOP + _ROW * number
            canvas.line((0, y), (self._width, y), opacity=0.2)
            canvas.text((0, y + 30), f"{number + 1:>2}", size=12, bold=True)
            canvas.text((22, y + 30), self._step(frame), size=12)
            for broker, view in frame.views.items():
                self._draw_view(canvas, self._columns[broker], y, view)
        return canvas.svg(self._width, _TOP + _ROW * len(self.frames) + 4, self.alt)

    @property
    def alt(self) -> str:
        """The steps in words, with the high watermark of the leader after each."""
        return "; ".join(f"{n}. {self._step(frame)}{_leader_hw(frame)}" for n, frame in enumerate(self.frames, 1)) + "."

    def _step(self, frame: Frame) -> str:
        verb, _, what = frame.step.partition(" ")
        return self._words[verb].format(what)

    def _draw_legend(self, canvas: Canvas) -> None:
        epochs = sorted({e for frame in self.frames for view in frame.views.values() for _, e in view.values if e >= 0})
        x = 0.0
        for epoch in epochs:
            label = self._words["epoch"].format(epoch)
            canvas.box((x, 3), (11, 11), fill=_colour(epoch), opacity=0.4, radius=2)
            canvas.text((x + 16, 12), label, size=12)
            x += text_width(label) + 36
        _draw_high_watermark(canvas, x + 4, 2, 12)
        canvas.text((x + 14, 12), self._words["hw"], size=12)

    def _draw_view(self, canvas: Canvas, x: float, y: float, view: ReplicaView) -> None:
        top = y + 14
        faded = 1.0 if view.is_alive else 0.45
        for index, (value, epoch) in enumerate(view.values):
            at = (x + index * _CELL, top)
            canvas.box(at, (_CELL, _HEIGHT), fill=BACKGROUND)
            dash = "" if view.is_alive else "3 3"
            canvas.box(
                at, (_CELL, _HEIGHT), fill=_colour(epoch), opacity=0.35 * faded, stroke="currentColor", dash=dash
            )
            canvas.text((at[0] + _CELL / 2, top + 15), value, size=12, anchor="middle", opacity=faded)
        canvas.line((x, top + _HEIGHT), (x + len(view.values) * _CELL + 14, top + _HEIGHT), opacity=0.5 * faded)
        if view.is_alive:
            _draw_high_watermark(canvas, x + view.high_watermark * _CELL, top - 5, _HEIGHT + 9)
        canvas.text(
            (x, top + _HEIGHT + 14), self._role(view), size=12, bold=view.leads, opacity=0.55 + 0.45 * view.leads
        )

    def _role(self, view: ReplicaView) -> str:
        if not view.is_alive:
            return self._words["down"]
        if not view.leads:
            return self._words["in sync" if view.in_isr else "out"]
        ends = ", ".join(f"{broker}→{'?' if end < 0 else end}" for broker, end in view.known_ends.items())
        known = self._words["knows"].format(ends)
        return f"{self._words['leads']} · {known}" if ends else self._words["leads"]

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        svg = self.svg()
        return {"text/html": svg, "image/svg+xml": svg, "text/plain": self.alt, **chinese_twin(self)}


def _colour(epoch: int) -> str:
    return PALETTE[epoch % len(PALETTE)] if epoch >= 0 else PALETTE[-1]


def _draw_high_watermark(canvas: Canvas, x: float, top: float, height: float) -> None:
    canvas.line((x, top), (x, top + height), stroke=PALETTE[4], width=2.4)


def _leader_hw(frame: Frame) -> str:
    return next((f" (HW {view.high_watermark})" for view in frame.views.values() if view.leads), "")


@with_chinese_twin
def film(frames: Sequence[Frame], language: str = "en") -> ReplicaFilm:
    """The film of these frames, such as ``ReplicasByHand.film``."""
    return ReplicaFilm(frames, language)


# -- scenes ----------------------------------------------------------------------------------------------------------


def _in_sync(replicas: ReplicasByHand, *values: str) -> None:
    """Broker 1 leads, and all have these records and know that they are committed; the film begins here."""
    replicas.lead(1)
    for value in values:
        replicas.produce(value)
    for _ in range(3):
        for follower in (2, 3):
            replicas.fetch(follower)
    del replicas.film[:-1]
    replicas.film[0] = replace(replicas.film[0], step="begin")


def two_rounds(replicas: ReplicasByHand) -> None:
    """A record needs one fetch to be copied, and another one to be committed."""
    _in_sync(replicas, "a")
    replicas.produce("b")
    for follower in (2, 3, 2, 3, 2):
        replicas.fetch(follower)


def isr_example(replicas: ReplicasByHand) -> None:
    """A slow follower leaves the ISR, the leader dies, the next one leads, and both come back."""
    _in_sync(replicas, "a", "b")
    replicas.produce("c")
    for _ in range(2):
        replicas.fetch(2)
    replicas.advance(_LAG_S)
    replicas.produce("x", acks=1)
    replicas.kill(1)
    replicas.elect()
    replicas.produce("d")
    for _ in range(2):
        replicas.fetch(3)
    replicas.start(1)
    for _ in range(2):
        replicas.fetch(1)


def restart_before_the_second_round(replicas: ReplicasByHand) -> None:
    """KIP-101, scenario 1: a follower restarts, and the leader dies before the follower has fetched again."""
    _in_sync(replicas, "a")
    replicas.advance(_CHECKPOINT_S)
    replicas.produce("b")
    for follower in (2, 2, 3, 3):
        replicas.fetch(follower)
    replicas.kill(2)
    replicas.start(2)
    replicas.kill(1)
    replicas.elect()
    replicas.fetch(3)


Scene = Callable[[ReplicasByHand], None]


@functools.cache
def played(scene: Scene, protocol: str = "") -> tuple[Frame, ...]:
    """The film of a scene with three brokers."""
    with ReplicasByHand(protocol=protocol) as replicas:
        scene(replicas)
        return tuple(replicas.film)


def two_rounds_figure(language: str) -> str:
    """HW and LEO over two rounds of fetches."""
    return film(played(two_rounds), language=language).svg()


def isr_figure(language: str) -> str:
    """The example of the slides."""
    return film(played(isr_example), language=language).svg()


def loss_by_high_watermark(language: str) -> str:
    """Truncation to the high watermark loses a committed record."""
    return film(played(restart_before_the_second_round, BOOKS_KAFKA), language=language).svg()


def no_loss_by_epoch(language: str) -> str:
    """The same steps with truncation by leader epoch."""
    return film(played(restart_before_the_second_round), language=language).svg()
