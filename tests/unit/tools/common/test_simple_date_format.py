"""Times in the patterns of Java's SimpleDateFormat."""

from __future__ import annotations

import pytest

from kafka_lite.tools.common.simple_date_format import date_format
from kafka_lite.tools.common.tool_errors import ToolError


def test_dates_have_the_format_of_a_java_pattern() -> None:
    written = date_format("yyyy-MM-dd'T'HH:mm:ss:SSS")(1795281906604.9)
    assert written.startswith("2026-11-2")
    assert written[10] == "T"
    assert written.endswith(":06:604")


def test_a_field_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(ToolError, match="'EEE' is not supported; these are: yyyy, yy"):
        date_format("EEE HH:mm")
