"""Charts show their values to scale."""

import re

import pytest

from kafka_learn.drawing.charts import BarChart, LineChart, rounded


def lengths(chart):
    return [float(width) for width in re.findall(r'<rect [^>]*? width="([\d.]+)"', chart.svg())]


def test_the_length_of_a_bar_is_proportional_to_its_value():
    first, second, third = lengths(BarChart("speed", {"a": 10, "b": 20, "nothing": 0}, "MB/s"))
    assert second == pytest.approx(2 * first)
    assert third == 0


def test_a_logarithmic_bar_grows_equally_for_each_power_of_ten():
    one, ten, hundred = lengths(BarChart("speed", {"a": 2, "b": 20, "c": 200}, "/s", logarithmic=True))
    assert hundred - ten == pytest.approx(ten - one, abs=0.2)
    assert 0 < one < ten


def test_a_bar_chart_has_a_text_alternative():
    chart = BarChart("speed", {"a": 1234.5}, "/s")
    assert chart.in_words() == "speed: a 1,230 /s"
    assert 'aria-label="speed: a 1,230 /s"' in chart.svg()


def test_a_line_goes_from_its_first_to_its_last_point():
    chart = LineChart("dirty", {"file": [(0, 64), (30, 64), (31, 0)]}, "MB")
    (drawn,) = re.findall(r'points="([^"]+)"', chart.svg())
    points = [tuple(map(float, point.split(","))) for point in drawn.split()]
    assert points[0][1] == points[1][1] < points[2][1]
    assert points[0][0] < points[1][0] < points[2][0]
    assert chart.in_words() == "dirty: file from 64 over 64 to 0 MB within 31 s"


def test_an_empty_chart_is_drawn():
    assert "<svg" in BarChart("none", {}, "s").svg()
    assert "<svg" in LineChart("none", {"a": []}, "s").svg()


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (999.6, "1,000"), (12.34, "12.3"), (10, "10"), (100, "100"), (0.5, "0.5")]
)
def test_numbers_have_three_significant_digits(value, shown):
    assert rounded(value) == shown
