"""Values as Java's ``toString`` writes them, so that a sink's lines and keys are the same from either worker.

Kafka 0.10.2: none; java.lang.String.valueOf, java.util.AbstractMap.toString, java.util.Date.toString · book 8.3.3
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from kafka_lite.common.java.java_numbers import double_text

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# strftime would write them in the user's language.


def java_text(value: object) -> str:
    """The text of a value: ``true``, ``null``, ``1.0E30``, ``[1, 2]``, ``{a=1}``, ``Tue Nov 14 22:13:20 UTC 2023``.

    Dates are in UTC. Java shows an array's identity; bytes are shown as Python shows them.
    """
    match value:
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
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC)
    day, month = _DAYS[value.weekday()], _MONTHS[value.month - 1]
    return f"{day} {month} {value.day:02} {value:%H:%M:%S} UTC {value.year:04}"
