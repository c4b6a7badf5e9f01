"""The parts of the demo that need neither a broker nor Spark."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from pipeline.demo import MARKER, DemoError, make_folder, not_in_the_table
from pipeline.nycflights import FLIGHT_COUNT, WEATHER_COUNT, load_flights, load_weather, to_json_lines
from pipeline.weather_chart import draw
from pipeline.weather_delays import FACTORS, LeftOut, delays_in_pandas, differences, left_out
from tests.support.eventually import eventually

HOUR = "2013-01-01T10:00:00Z"


@pytest.fixture(scope="module")
def result() -> pd.DataFrame:
    return delays_in_pandas(load_flights(), load_weather())


def test_the_data_set_is_complete_and_its_rows_become_json() -> None:
    flights, weather = load_flights(), load_weather()
    assert (len(flights), len(weather)) == (FLIGHT_COUNT, WEATHER_COUNT)
    first = to_json_lines(flights.head(2))[0]
    assert first.startswith('{"year":2013,"month":1,"day":1,"dep_time":517,')
    assert '"dep_delay":null' in to_json_lines(flights[flights["dep_delay"].isna()].head(1))[0]
    assert not weather.duplicated(["origin", "time_hour"]).any()


def test_means_are_computed_per_weather_class() -> None:
    flights = pd.DataFrame({"origin": "EWR", "time_hour": [HOUR] * 3 + ["never"], "dep_delay": [10, 20, None, 99]})
    weather = pd.DataFrame(
        {"origin": ["EWR"], "time_hour": [HOUR], "precip": [0.05], "visib": [10.0], "wind_speed": [1048.4]}
    )
    rows = delays_in_pandas(flights, weather).to_dict("records")
    figures = {"origin": "EWR", "flights": 3, "departed": 2, "mean_delay": 15}
    assert rows == [
        {"factor": "precipitation", "class": "0.05–0.2", **figures},
        {"factor": "visibility", "class": "10", **figures},
    ]


def test_flights_in_no_row_are_counted_by_reason() -> None:
    flights = pd.DataFrame({"origin": "EWR", "time_hour": [HOUR] * 3 + ["never"], "dep_delay": [10, 20, None, 99]})
    weather = pd.DataFrame(
        {"origin": ["EWR"], "time_hour": [HOUR], "precip": [0.05], "visib": [10.0], "wind_speed": [1048.4]}
    )
    assert left_out(flights, weather) == LeftOut(without_weather=1, without_class={"wind": 3})


def test_the_demo_says_why_its_table_does_not_add_up_to_all_flights(result: pd.DataFrame) -> None:
    flights, weather = load_flights(), load_weather()
    missing = left_out(flights, weather)
    sums = result.groupby("factor")["flights"].sum()
    for factor in FACTORS:
        not_counted = missing.without_weather + missing.without_class.get(factor.name, 0)
        assert sums[factor.name] + not_counted == FLIGHT_COUNT
    assert not_in_the_table(FLIGHT_COUNT, missing).startswith("Of the 336,776 flights, 1,556 are in no row: the data")
    assert " 78 more lack a reading of the wind." in not_in_the_table(FLIGHT_COUNT, missing)

    last_day = flights[(flights["month"] == 12) & (flights["day"] == 31)]
    assert left_out(last_day, weather).without_weather > 0.9 * len(last_day)


def test_every_reading_except_instrument_errors_has_a_class() -> None:
    weather = load_weather()
    for factor in FACTORS:
        without = weather[factor.pandas_class(weather).isna() & weather[factor.column].notna()]
        assert list(without[factor.column].round(1)) == ([1048.4] if factor.name == "wind" else [])


def test_differences_are_detected(result: pd.DataFrame) -> None:
    assert differences(result, result) == []
    wrong = result.copy()
    wrong.loc[0, "flights"] += 1
    wrong.loc[1, "mean_delay"] += 1e-8
    found = differences(wrong.drop(index=2), result)
    assert len(found) == 3
    assert any("flights" in difference for difference in found)
    assert any("mean delay" in difference for difference in found)
    assert any("not in Spark" in difference for difference in found)


def test_the_chart_is_drawn_as_svg_and_png(result: pd.DataFrame, tmp_path: Path) -> None:
    svg, png = draw(result, FLIGHT_COUNT, tmp_path)
    assert svg.read_text().startswith("<?xml")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_only_a_folder_of_the_demo_is_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    make_folder(folder)
    (folder / "left-over").touch()
    make_folder(folder)
    assert [path.name for path in folder.iterdir()] == [MARKER]
    (folder / MARKER).unlink()
    (folder / "precious").touch()
    with pytest.raises(DemoError, match="was not created by this demo"):
        make_folder(folder)
    assert (folder / "precious").exists()


PROGRAM = """
import signal, subprocess, sys, time
from pipeline.stop_signals import StopSignals
signal.signal(signal.SIGINT, signal.default_int_handler)

def farewell():
    print("of another thread", file=sys.stderr)
    print("farewell")

sys.stderr = sys.stdout  # as a spinner of rich does
StopSignals(farewell).install()
child = subprocess.Popen([sys.executable, "-c", "print('up', flush=True); import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_the_children_and_then_the_program(name: str, code: int) -> None:
    program = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    with program:
        lines = {program.stdout.readline(), program.stdout.readline()}
        (child,) = (int(line) for line in lines if line.strip().isdigit())
        program.send_signal(signal.Signals[name])
        assert program.stdout.read() == "farewell\n"
    assert program.returncode == code
    eventually(lambda: not Path(f"/proc/{child}").exists(), "the child ends")


FAMILY = """
import subprocess, sys, time
from pipeline.stop_signals import end_children
child = "import subprocess, sys, time; g = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
child += "print(g.pid, flush=True); time.sleep(600)"
process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, text=True)
print(process.pid, process.stdout.readline().strip())
end_children()
"""


def test_what_a_child_has_started_ends_as_well() -> None:
    shown = subprocess.run([sys.executable, "-c", FAMILY], capture_output=True, text=True, check=True).stdout
    for pid in shown.split():
        assert has_ended(pid)


STARTS_ANOTHER = """
import signal, subprocess, sys, time
from pipeline.stop_signals import end_children
child = '''
import signal, subprocess, sys, time
def start_another(*_):
    another = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    print(another.pid, flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, start_another)
print("up", flush=True)
time.sleep(600)
'''
process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, text=True)
process.stdout.readline()
end_children()
print(process.stdout.readline().strip())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody adopts what a process leaves behind")
def test_what_a_child_starts_while_it_ends_ends_as_well() -> None:
    """As a JVM does, which Spark asks for another Python worker."""
    shown = subprocess.run([sys.executable, "-c", STARTS_ANOTHER], capture_output=True, text=True, check=True).stdout
    assert has_ended(shown.strip())


ENDS_BY_THREADS = """
import subprocess, sys
from pipeline.stop_signals import end_children
child = '''
import ctypes, os, signal, subprocess, sys, threading, time
def start_another_and_end_slowly(*_):
    another = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    print(another.pid, flush=True)
    threading.Thread(target=lambda: (time.sleep(0.5), os._exit(0))).start()
    ctypes.CDLL(None).pthread_exit(None)
signal.signal(signal.SIGTERM, start_another_and_end_slowly)
print("up", flush=True)
time.sleep(600)
'''
process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, text=True)
process.stdout.readline()
end_children()
print(process.stdout.readline().strip())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody adopts what a process leaves behind")
def test_what_it_has_started_ends_though_its_first_thread_ended_before_the_others() -> None:
    """A JVM does so, too: for a while it is a zombie, and its children are still its own."""
    shown = subprocess.run([sys.executable, "-c", ENDS_BY_THREADS], capture_output=True, text=True, check=True).stdout
    assert has_ended(shown.strip())


def has_ended(pid: str) -> bool:
    stat = Path("/proc", pid, "stat")
    return not stat.exists() or ") Z " in stat.read_text()
