"""The options of ``python -m pipeline``: what is replayed, at which speed, and where everything runs.

Kafka 0.10.2: core/.../utils/CommandLineUtils.scala · book 1.4.1
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from pipeline.replay import DAY_IN_A_MINUTE, SPEEDS
from pipeline.replay_plan import FaultMix

DEFAULT_FOLDER = Path("pipeline-run")
FIRST_DAY, LAST_DAY = date(2013, 1, 1), date(2013, 12, 31)
"""Of the data set."""
_DAYS_IN_YEAR = 365

_DESCRIPTION = """\
Replays the flights and the weather of New York's airports in 2013 through a
broker into streaming queries of PySpark, shows them live, and compares what
they wrote with pandas at the end. Exit code 0: equal; 1: not equal, or a
failure; 130: stopped by Ctrl-C."""

_EXAMPLES = """\
examples:
  python -m pipeline                       a day in a minute
  python -m pipeline --late 0.05 --duplicates 0.02 --garbage 10
                                           the same with faults
  python -m pipeline --from 2013-02-08 --days 3 --speed 5000
                                           three days around a blizzard
  python -m pipeline --resume              continue after Ctrl-C or kill -9
  python -m pipeline --workers 2           on a Spark cluster of this machine
"""


@dataclass(frozen=True)
class ReplayOptions:
    """The data to replay and the guarantees of the topics. A resumed run has the same."""

    first_day: date = FIRST_DAY
    days: int = 1
    late: float = 0.0
    duplicates: float = 0.0
    garbage: int = 0
    seed: int = 0
    exactly_once: bool = False

    @property
    def mix(self) -> FaultMix:
        """The faults. Raises ``ReplayPlanError`` if they are impossible."""
        return FaultMix(self.late, self.duplicates, self.garbage)


@dataclass(frozen=True)
class RunOptions:
    """How a run is made. ``bootstrap_servers`` None: a broker of its own; ``interval_s`` None: as fits the output."""

    folder: Path
    replay: ReplayOptions
    resume: bool = False
    speed: float = DAY_IN_A_MINUTE
    bootstrap_servers: str | None = None
    master: str = "local[*]"
    workers: int = 0
    interval_s: float | None = None


def parse(arguments: Sequence[str] | None = None) -> RunOptions:
    """Parse the command line (default: the process's). Prints help or an error and exits as argparse does."""
    parser = _parser()
    given = parser.parse_args(arguments)
    defaults = ReplayOptions()
    replay = {name: getattr(given, name) for name in vars(defaults) if getattr(given, name) is not None}
    if given.resume and replay:
        names = ", ".join(sorted(_option(name) for name in replay))
        parser.error(f"--resume continues the folder's run as it was started: leave out {names}")
    options = ReplayOptions(**replay)
    if options.first_day + timedelta(days=options.days - 1) > LAST_DAY:
        parser.error(f"the data end with {LAST_DAY}: replay fewer --days, or begin earlier")
    if given.workers and given.master != parser.get_default("master"):
        parser.error("--workers starts a master of its own: leave out --master")
    return RunOptions(
        folder=given.folder,
        replay=options,
        resume=given.resume,
        speed=given.speed,
        bootstrap_servers=given.bootstrap_server,
        master=given.master,
        workers=given.workers,
        interval_s=given.interval,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pipeline", description=_DESCRIPTION, epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    _add_what_is_replayed(parser)
    _add_how(parser)
    _add_where(parser)
    return parser


def _add_what_is_replayed(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what is replayed")
    what.add_argument("--from", dest="first_day", type=_day, metavar="DAY", help="first day (default: 2013-01-01)")
    what.add_argument("--days", type=_number(int, 1, _DAYS_IN_YEAR), metavar="N", help="number of days (default: 1)")
    share = _number(float, 0, 1)
    what.add_argument(
        "--late", type=share, metavar="SHARE", help="share of events sent up to an hour late, such as 0.05"
    )
    what.add_argument("--duplicates", type=share, metavar="SHARE", help="share of events sent twice")
    count = _number(int, 0, 1_000_000)
    what.add_argument("--garbage", type=count, metavar="N", help="number of broken records among them")
    what.add_argument(
        "--seed", type=int, metavar="N", help="draws the faults; the same seed draws the same (default: 0)"
    )


def _add_how(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("how")
    how.add_argument(
        "--speed", type=_number(float, *SPEEDS), default=DAY_IN_A_MINUTE, metavar="X",
        help="times real time: 1 is real time, 1440 a day in a minute (default), at most 20000",
    )  # fmt: skip
    how.add_argument("--resume", action="store_true", help="continue the folder's run instead of starting a new one")
    how.add_argument(
        "--folder", type=Path, default=DEFAULT_FOLDER, metavar="PATH",
        help=f"for results, checkpoints, logs and report (default: {DEFAULT_FOLDER})",
    )  # fmt: skip
    how.add_argument(
        "--interval", type=_number(float, 0.1, 3600), metavar="SECONDS",
        help="how often the view is updated (default: 0.5 on a terminal, else a line every 5)",
    )  # fmt: skip
    how.add_argument(
        "--exactly-once", action="store_true", default=None,
        help="publish results in transactions (default: at least once, with ids that show doubles)",
    )  # fmt: skip


def _add_where(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("where")
    where.add_argument(
        "--bootstrap-server", metavar="HOST:PORT", help="use these brokers instead of starting one; any Kafka will do"
    )
    where.add_argument(
        "--master",
        default="local[*]",
        metavar="URL",
        help="Spark's master, such as spark://host:7077 (default: local[*])",
    )
    where.add_argument(
        "--workers", type=_number(int, 0, 64), default=0, metavar="N",
        help="start a Spark master and N workers on this machine, and run there",
    )  # fmt: skip


def _option(name: str) -> str:
    return "--from" if name == "first_day" else f"--{name.replace('_', '-')}"


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as {FIRST_DAY}") from None
    if not FIRST_DAY <= day <= LAST_DAY:
        raise argparse.ArgumentTypeError(f"the data are of {FIRST_DAY.year}")
    return day


class _number:  # noqa: N801
    """A type of argparse: a number of a kind within bounds."""

    def __init__(self, kind: type[int] | type[float], least: float, most: float) -> None:
        self._kind, self._least, self._most = kind, least, most

    def __call__(self, text: str) -> float:
        try:
            value = self._kind(text)
        except ValueError:
            value = None
        if value is None or not self._least <= value <= self._most:
            kind = "a whole number" if self._kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind} from {self._least:g} to {self._most:g}")
        return value
