"""Charts of measurements, bars for rates and lines over time, as SVG in the page's own colours like all drawings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_learn.both_languages import chinese_twin
from kafka_learn.drawing.svg import PALETTE, Canvas, text_width

_SIZE = 12.0
_ROW = 24.0
_BAR = 14.0
_BARS_WIDTH = 330.0
_GAP = 10.0
_LINE_WIDTH, _LINE_HEIGHT, _MARGIN = 520.0, 150.0, 66.0
_TICKS = 9


@dataclass
class BarChart:
    """One bar per value, from zero. Use ``logarithmic`` if small values would vanish beside large ones.

    On a logarithmic scale, the bars start at the power of ten below the smallest value.
    """

    title: str
    values: Mapping[str, float]
    unit: str
    logarithmic: bool = False
    chinese: Callable[[], str] | None = field(default=None, compare=False, repr=False)

    def svg(self) -> str:
        """The chart as one ``<svg>`` element."""
        canvas = Canvas()
        shown = [f"{rounded(value)} {self.unit}" for value in self.values.values()]
        left = max(map(text_width, self.values), default=0.0) + _GAP
        width = left + _BARS_WIDTH + _GAP + max(map(text_width, shown), default=0.0)
        width = max(width, text_width(self.title))
        canvas.text((0, _SIZE), self.title, bold=True)
        for number, (label, value) in enumerate(self.values.items()):
            top = 26 + number * _ROW
            baseline = top + _BAR - 2.5
            canvas.text((left - _GAP, baseline), label, anchor="end")
            canvas.box((left, top), (self._length(value), _BAR), fill=PALETTE[0], opacity=0.75, radius=2)
            canvas.text((left + self._length(value) + 6, baseline), shown[number])
        height = 26 + len(self.values) * _ROW
        canvas.line((left, 22), (left, height), opacity=0.5)
        return canvas.svg(width, height, self.in_words())

    def in_words(self) -> str:
        """The chart in one sentence, for screen readers."""
        parts = (f"{label} {rounded(value)} {self.unit}" for label, value in self.values.items())
        return f"{self.title}: {'; '.join(parts)}"

    def _length(self, value: float) -> float:
        largest = max(self.values.values())
        if value <= 0 or largest <= 0:
            return 0.0
        if not self.logarithmic:
            return _BARS_WIDTH * value / largest
        floor = math.floor(math.log10(min(v for v in self.values.values() if v > 0)))
        # At least a tenth of a power of ten, so that a chart of equal values also has bars.
        return _BARS_WIDTH * (math.log10(value) - floor) / max(math.log10(largest) - floor, 0.1)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": self.in_words(), **chinese_twin(self)}


@dataclass
class LineChart:
    """Values over time (s): ``series`` maps a name to its points (time, value); all are in ``unit``, from zero up."""

    title: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    unit: str
    chinese: Callable[[], str] | None = field(default=None, compare=False, repr=False)

    def svg(self) -> str:
        """The chart as one ``<svg>`` element."""
        canvas = Canvas()
        points = [point for line in self.series.values() for point in line]
        across = _LINE_WIDTH / (max((time for time, _ in points), default=0.0) or 1.0)
        up = _LINE_HEIGHT / (max((value for _, value in points), default=0.0) or 1.0)
        base = 34 + _LINE_HEIGHT
        canvas.text((0, _SIZE), self.title, bold=True)
        for value in _ticks(_LINE_HEIGHT / up):
            y = base - value * up
            canvas.line((_MARGIN, y), (_MARGIN + _LINE_WIDTH, y), opacity=0.15)
            canvas.text((_MARGIN - 6, y + 4), f"{rounded(value)} {self.unit}", anchor="end")
        for time in _ticks(_LINE_WIDTH / across):
            canvas.text((_MARGIN + time * across, base + 15), f"{rounded(time)} s", anchor="middle")
        for number, (name, line) in enumerate(self.series.items()):
            colour = PALETTE[number % len(PALETTE)]
            canvas.path([(_MARGIN + t * across, base - v * up) for t, v in line], stroke=colour, width=2)
            row = base + 36 + number * 18
            canvas.line((_MARGIN, row - 4), (_MARGIN + 24, row - 4), stroke=colour, width=2)
            canvas.text((_MARGIN + 32, row), name)
        return canvas.svg(_MARGIN + _LINE_WIDTH + 24, base + 28 + 18 * len(self.series), self.in_words())

    def in_words(self) -> str:
        """First, largest and last value of each line, for screen readers."""
        parts = (
            f"{name} from {rounded(line[0][1])} over {rounded(max(v for _, v in line))} to {rounded(line[-1][1])} "
            f"{self.unit} within {rounded(line[-1][0])} s"
            for name, line in self.series.items()
            if line
        )
        return f"{self.title}: {'; '.join(parts)}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": self.in_words(), **chinese_twin(self)}


def _ticks(largest: float) -> list[float]:
    """Round numbers from zero up to ``largest``, at most ten.

    >>> _ticks(45), _ticks(76)
    ([0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0])
    """
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(step for step in (power / 10, power / 5, power / 2, power, 2 * power) if largest / step <= _TICKS)
    return [number * step for number in range(math.floor(largest / step) + 1)]


def rounded(value: float) -> str:
    """The value rounded to three significant digits, which is precise enough for any measurement.

    >>> rounded(1234567), rounded(40.65), rounded(0.0123), rounded(0)
    ('1,230,000', '40.6', '0.0123', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = 2 - math.floor(math.log10(abs(value)))
    number = round(value, digits)
    return f"{number:,.0f}" if digits <= 0 else f"{number:.{digits}f}".rstrip("0").rstrip(".")
