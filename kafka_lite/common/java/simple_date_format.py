"""Times in the patterns of Java's SimpleDateFormat, formatted and parsed, with English names.

Kafka 0.10.2: none; java.text.SimpleDateFormat · book 8.3.3
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                  "November", "December")  # fmt: skip
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKEN: Final = re.compile(r"''|'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+|'")


class SimpleDateFormat:
    """A pattern such as ``yyyy-MM-dd'T'HH:mm:ss.SSS``. Raises ValueError if it is not one.

    ``zone``: the time zone of what is formatted, and of a parsed text that names none. None is that of the machine.
    """

    def __init__(self, pattern: str, zone: tzinfo | None = UTC) -> None:
        self.pattern = pattern
        self._zone = zone
        self._tokens = [match.group() for match in _TOKEN.finditer(pattern)]
        for token in self._tokens:
            if token == "'":
                raise ValueError("Unterminated quote")
            if token[0].isalpha() and token[0] not in _FIELDS:
                raise ValueError(f"Illegal pattern character '{token[0]}'")
        self._parser: re.Pattern[str] | None = None

    def format(self, time_ms: int) -> str:
        """The text of ms since 1970. Raises ValueError outside of the years 1 to 9999."""
        try:
            time = (_EPOCH + timedelta(milliseconds=time_ms)).astimezone(self._zone)
        except OverflowError:
            raise ValueError(f"{time_ms} ms is not in the years 1 to 9999") from None
        return "".join(
            _FIELDS[token[0]](time, len(token)) if token[0].isalpha() else _literal(token) for token in self._tokens
        )

    def parse(self, text: str) -> int:
        """The ms since 1970 of a text. More text may follow. Raises ValueError."""
        found = self._compiled().match(text)
        if found is None:
            raise ValueError(f'Unparseable date: "{text}"')
        try:
            return _time_of(found.groupdict(), self._zone)
        except OverflowError:
            raise ValueError(f"{text} is not in the years 1 to 9999") from None

    def _compiled(self) -> re.Pattern[str]:
        if self._parser is None:
            fields = [token for token in self._tokens if token[0].isalpha()]
            unknown = [field for field in fields if field[0] not in _PARSED or field == "yy"]
            if unknown:
                raise ValueError(f"times in the pattern {self.pattern} cannot be parsed, because of {unknown[0]}")
            self._parser = re.compile("".join(map(self._expression, range(len(self._tokens)))), re.IGNORECASE)
        return self._parser

    def _expression(self, index: int) -> str:
        """The expression that a token matches. A number without a separator after it has as many digits as letters."""
        token = self._tokens[index]
        if not token[0].isalpha():
            return re.escape(_literal(token))
        following = self._tokens[index + 1] if index + 1 < len(self._tokens) else ""
        adjacent = following[:1].isalpha()
        digits = rf"\d{{{len(token)}}}" if adjacent else r"\d+"
        expression = _PARSED[token[0]] or digits
        if token[0] in "ML" and len(token) < 3:
            expression = digits
        return f"(?P<{token[0]}>{expression})"


def _literal(token: str) -> str:
    return "'" if token == "''" else token[1:-1].replace("''", "'") if token[0] == "'" else token


# ----------------------------------------------------------------------------------------------------------- formatting


def _number(of: Callable[[datetime], int]) -> Callable[[datetime, int], str]:
    return lambda time, width: str(of(time)).zfill(width)


def _name(names: tuple[str, ...], of: Callable[[datetime], int]) -> Callable[[datetime, int], str]:
    return lambda time, width: names[of(time)] if width > 3 else names[of(time)][:3]


def _year(time: datetime, width: int) -> str:
    return f"{time.year % 100:02}" if width == 2 else str(time.year).zfill(width)


def _month(time: datetime, width: int) -> str:
    return str(time.month).zfill(width) if width < 3 else _MONTHS[time.month - 1][: 3 if width == 3 else None]


def _week_of_year(time: datetime) -> int:
    """As in America: weeks begin on Sunday, and the week with the 1st of January is the first one."""
    first, last = time.replace(month=1, day=1), time.replace(month=12, day=31)
    if (last - time).days <= _days_since_sunday(last) < 6:
        return 1  # of the next year
    return ((time - first).days + _days_since_sunday(first)) // 7 + 1


def _days_since_sunday(time: datetime) -> int:
    return (time.weekday() + 1) % 7


def _iso_offset(time: datetime, width: int) -> str:
    """``Z``, or an offset such as ``+05`` (X), ``+0530`` (XX), ``+05:30`` (XXX)."""
    if not time.utcoffset():
        return "Z"
    digits = f"{time:%z}"
    return (digits[:3], digits[:5], f"{digits[:3]}:{digits[3:5]}")[min(width, 3) - 1]


_FIELDS: Final[dict[str, Callable[[datetime, int], str]]] = {
    "G": lambda _time, _width: "AD",
    "y": _year,
    "M": _month,
    "L": _month,
    "w": _number(_week_of_year),
    "D": _number(lambda time: time.timetuple().tm_yday),
    "d": _number(lambda time: time.day),
    "F": _number(lambda time: (time.day - 1) // 7 + 1),
    "E": _name(_DAYS, lambda time: time.weekday()),
    "u": _number(lambda time: time.isoweekday()),
    "a": lambda time, _width: "AM" if time.hour < 12 else "PM",
    "H": _number(lambda time: time.hour),
    "k": _number(lambda time: time.hour or 24),
    "K": _number(lambda time: time.hour % 12),
    "h": _number(lambda time: time.hour % 12 or 12),
    "m": _number(lambda time: time.minute),
    "s": _number(lambda time: time.second),
    "S": _number(lambda time: time.microsecond // 1000),
    "z": lambda time, _width: time.tzname() or "",
    "Z": lambda time, _width: f"{time:%z}"[:5],
    "X": _iso_offset,
}


# -------------------------------------------------------------------------------------------------------------- parsing

_ZONE: Final = r"Z|UTC|GMT|(?:GMT)?[+-]\d\d:?(?:\d\d)?"
_PARSED: Final[dict[str, str]] = {
    "y": "",
    "M": "|".join(f"{name}|{name[:3]}" for name in _MONTHS),
    "d": "",
    "E": "|".join(f"{name}|{name[:3]}" for name in _DAYS),
    "a": "AM|PM",
    "H": "",
    "h": "",
    "m": "",
    "s": "",
    "S": "",
    "z": _ZONE,
    "Z": _ZONE,
    "X": _ZONE,
}
"""The letters that can be parsed, with the expressions that they match; digits if it is empty."""


def _time_of(parts: dict[str, str], default_zone: tzinfo | None) -> int:
    numbers = {name: int(part) for name, part in parts.items() if part.isdecimal()}
    hour = numbers.get("H", 0)
    if "h" in numbers:
        hour = numbers["h"] % 12 + (12 if parts.get("a", "").upper() == "PM" else 0)
    # SimpleDateFormat is lenient: the 32nd of January is the 1st of February.
    months = numbers.get("y", 1970) * 12 + _month_of(parts.get("M", "1")) - 1
    time = datetime(months // 12, months % 12 + 1, 1) + timedelta(
        days=numbers.get("d", 1) - 1,
        hours=hour,
        minutes=numbers.get("m", 0),
        seconds=numbers.get("s", 0),
        milliseconds=numbers.get("S", 0),
    )
    named = parts.get("z") or parts.get("Z") or parts.get("X")
    if named:
        time = (time - _offset(named)).replace(tzinfo=UTC)
    else:
        time = time.astimezone() if default_zone is None else time.replace(tzinfo=default_zone)
    return (time - _EPOCH) // timedelta(milliseconds=1)


def _month_of(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return 1 + next(index for index, name in enumerate(_MONTHS) if name.lower().startswith(text.lower()))


def _offset(zone: str) -> timedelta:
    digits = re.sub("[^0-9]", "", zone)
    offset = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:] or 0))
    return -offset if "-" in zone else offset
