"""Values as Java's ``toString`` writes them, so that a sink's lines and keys are the same from either worker.

Kafka 0.10.2: none; java.lang.String.valueOf, java.util.AbstractMap.toString, java.util.Date.toString · book 8.3.3
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from kafka_lite.common.java.java_numbers import double_text
from kafka_lite.common.java.simple_date_format import SimpleDateFormat

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_DATE_TO_STRING = SimpleDateFormat("EEE MMM dd HH:mm:ss z yyyy")


def java_text(value: object) -> str:
    """The text of a value: ``true``, ``null``, ``1.0E30``, ``[1, 2]``, ``{a=1}``, ``Tue Nov 14 22:13:20 UTC 2023``.

    Dates are in UTC. Java shows an array's identity; bytes are shown as Python shows them.
    """
    match value:
        case str():
            return str(value)  # first, since most are, and Mapping is slow to ask
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return double_text(value)
        case Mapping():
            return f"{{{', '.join(f'{java_text(key)}={java_text(element)}' for key, element in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(java_text, value))}]"
        case datetime.date() | datetime.time():
            return _date_text(value)
    return str(value)


def _date_text(value: datetime.date | datetime.time) -> str:
    """Java has one class for dates, times and timestamps, which always shows all of it."""
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date(1970, 1, 1), value)
    elif not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.UTC)
    return _DATE_TO_STRING.format((value - _EPOCH) // datetime.timedelta(milliseconds=1))
