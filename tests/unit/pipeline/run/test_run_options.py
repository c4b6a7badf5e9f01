"""The command line of ``python -m pipeline``."""

from __future__ import annotations

import shlex
from datetime import date
from pathlib import Path

import pytest

from pipeline.replay_plan import FaultMix
from pipeline.run.run_options import ReplayOptions, RunOptions, parse


def test_without_options_it_replays_the_first_day_in_a_minute() -> None:
    assert parse([]) == RunOptions(Path("pipeline-run"), ReplayOptions(date(2013, 1, 1), days=1), speed=1440.0)


def test_all_options_are_taken() -> None:
    options = parse(
        shlex.split(
            "--from 2013-02-08 --days 3 --speed 1 --late 0.05 --duplicates 0.02 --garbage 10 --seed 7 --folder there "
            "--bootstrap-server kafka:9092 --master spark://host:7077 --interval 2 --exactly-once"
        )
    )
    assert options.replay == ReplayOptions(
        date(2013, 2, 8), 3, late=0.05, duplicates=0.02, garbage=10, seed=7, exactly_once=True
    )
    assert options.replay.mix == FaultMix(late=0.05, duplicates=0.02, garbage=10)
    assert (options.folder, options.speed, options.interval_s) == (Path("there"), 1.0, 2.0)
    assert (options.bootstrap_servers, options.master) == ("kafka:9092", "spark://host:7077")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--late 5", "'5' is not a number from 0 to 1"),
        ("--days 0", "'0' is not a whole number from 1 to 365"),
        ("--days 1.5", "'1.5' is not a whole number from 1 to 365"),
        ("--speed 0", "'0' is not a number from 1 to 20000"),
        ("--from 2014-01-01", "the data are of 2013"),
        ("--from yesterday", "'yesterday' is not a day such as 2013-01-01"),
        ("--from 2013-12-31 --days 2", "the data end with 2013-12-31"),
        ("--resume --from 2013-01-02 --late 0.1", "leave out --from, --late"),
        ("--resume --exactly-once", "leave out --exactly-once"),
        ("--workers 2 --master spark://host:7077", "leave out --master"),
    ],
)
def test_what_is_impossible_is_refused_with_the_reason(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_code:
        parse(arguments.split())
    assert exit_code.value.code == 2
    assert message in capsys.readouterr().err


def test_the_help_names_every_option_and_fits_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        parse(["--help"])
    shown = capsys.readouterr().out
    what = ("--from", "--days", "--late", "--duplicates", "--garbage", "--seed")
    how = ("--speed", "--resume", "--folder", "--interval", "--bootstrap-server", "--master", "--workers")
    assert [option for option in what + how if option not in shown] == []
    assert max(map(len, shown.splitlines())) <= 80
