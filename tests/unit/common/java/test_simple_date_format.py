from datetime import timedelta, timezone

import pytest

from kafka_lite.common.java.simple_date_format import SimpleDateFormat

MS = 1700000000123  # Tuesday, 2023-11-14 22:13:20.123


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2023-11-14T22:13:20.123"),
        ("yy/M/d", "23/11/14"),
        ("EEE, MMM d EEEE MMMM", "Tue, Nov 14 Tuesday November"),
        ("h:mm a K k", "10:13 PM 10 22"),
        ("D w F u", "318 46 2 2"),
        ("G z Z X", "AD UTC +0000 Z"),
        ("'it''s' ''yyyy''", "it's '2023'"),
        ("yyyyy", "02023"),
        ("", ""),
    ],
)
def test_formats(pattern: str, text: str) -> None:
    assert SimpleDateFormat(pattern).format(MS) == text


@pytest.mark.parametrize(
    ("day", "week"),
    [
        ("2023-01-01", 1),
        ("2022-12-31", 53),
        ("2023-12-31", 1),
        ("2024-12-28", 52),
        ("2024-12-29", 1),
        ("2024-12-31", 1),
    ],
)
def test_weeks_begin_on_sunday(day: str, week: int) -> None:
    assert SimpleDateFormat("w").format(SimpleDateFormat("yyyy-MM-dd").parse(day)) == str(week)


@pytest.mark.parametrize(
    ("pattern", "text", "ms"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2023-11-14T22:13:20.123", MS),
        ("yyyyMMddHHmmss", "20231114221320", MS - 123),
        ("d MMM yyyy", "14 nov 2023 and more", 1699920000000),
        ("MMMM d yyyy", "November 14 2023", 1699920000000),
        ("yyyy-MM-dd hh:mm a", "2023-11-14 12:05 AM", 1699920300000),
        ("yyyy-MM-dd HH:mm Z", "2023-11-14 02:00 +0200", 1699920000000),
        ("yyyy-MM-dd HH:mmX", "2023-11-13 23:00-01:00", 1699920000000),
        ("yyyy-MM-dd", "2023-10-45", 1699920000000),  # lenient, as Java's
        ("ss", "1", 1000),
    ],
)
def test_parses(pattern: str, text: str, ms: int) -> None:
    assert SimpleDateFormat(pattern).parse(text) == ms


@pytest.mark.parametrize("pattern", ["yyyy-bb", "'open", "y'"])
def test_what_is_not_a_pattern(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"Illegal pattern character 'b'|Unterminated quote"):
        SimpleDateFormat(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "says"),
    [
        ("yyyy", "x", 'Unparseable date: "x"'),
        ("yy", "23", "cannot be parsed, because of yy"),
        ("yyyy w", "2023 1", "cannot be parsed, because of w"),
        ("yyyy d", "2023 " + "9" * 20, "not in the years 1 to 9999"),
    ],
)
def test_what_cannot_be_parsed(pattern: str, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        SimpleDateFormat(pattern).parse(text)


def test_times_that_python_has_not() -> None:
    with pytest.raises(ValueError, match="not in the years 1 to 9999"):
        SimpleDateFormat("yyyy").format(2**62)


KOLKATA = timezone(timedelta(hours=5, minutes=30), "IST")


def test_a_format_in_a_zone_of_its_own() -> None:
    in_zone = SimpleDateFormat("yyyy-MM-dd HH:mm z Z X XX XXX", KOLKATA)
    assert in_zone.format(MS) == "2023-11-15 03:43 IST +0530 +05 +0530 +05:30"


@pytest.mark.parametrize(
    ("pattern", "text"), [("yyyy-MM-dd HH:mm", "2023-11-14 05:30"), ("yyyy-MM-dd HH:mm X", "2023-11-14 00:00 Z")]
)
def test_a_text_without_a_zone_is_in_that_of_the_format(pattern: str, text: str) -> None:
    assert SimpleDateFormat(pattern, KOLKATA).parse(text) == 1699920000000
