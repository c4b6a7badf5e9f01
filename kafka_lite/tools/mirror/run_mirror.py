"""Runs a mirror in the foreground, until a signal stops it or it fails: MirrorMaker, or a worker of uReplicator.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (main) · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar

from kafka_lite.tools.common.stop_signals import SIGNAL_CHECK_S, StopRequested, StopSignals
from kafka_lite.tools.common.terminal import print_error, print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError

logger = logging.getLogger(__name__)

ABNORMAL_EXIT = 255
"""The exit code after a lost record or a failed thread: Kafka's -1."""
PATIENCE_S = 10.0
"""How long a stop may take before the user is told why."""

Show = Callable[[], None]


class Mirror(Protocol):
    """A tool that copies until it is stopped."""

    def start(self) -> None:
        """Start to copy."""
        ...

    def await_end(self, timeout_s: float) -> bool:
        """Wait until the mirror has failed; False after ``timeout_s``."""
        ...

    def initiate_shutdown(self) -> None:
        """Ask it to stop."""
        ...

    def await_shutdown(self, timeout_s: float | None = None) -> bool:
        """Wait until it has stopped; False if it has not after ``timeout_s`` for each of its threads."""
        ...


M = TypeVar("M", bound=Mirror)


def run_mirror(create: Callable[[], M], view: Callable[[M], AbstractContextManager[Show]] | None = None) -> int:
    """Copy until a signal (exit code 143, 130 or 129) or a failure (255); 1 if the mirror cannot start.

    ``view`` shows it; its function is called twice a second.
    """
    signals = StopSignals()
    mirror: M | None = None
    try:
        signals.install()
        try:
            mirror = create()
            mirror.start()
        except Exception as error:  # the user's classes may raise any error
            signals.raise_again()
            print_error(f"Exception when starting mirror maker. {error}")
            logger.debug("Exception when starting mirror maker.", exc_info=True)
            return 1
        with view(mirror) if view is not None else nullcontext(_show_nothing) as show:
            while not mirror.await_end(SIGNAL_CHECK_S):
                show()
        print_error("Mirror maker thread exited abnormally, stopping the whole mirror maker.")
        return ABNORMAL_EXIT
    except StopRequested as stop:
        return stop.exit_code
    finally:
        signals.disarm()
        if mirror is not None:
            _shut_down(mirror)


def _shut_down(mirror: Mirror) -> None:
    mirror.initiate_shutdown()
    if not mirror.await_shutdown(PATIENCE_S):
        print_to_stderr(
            "Waiting for the target cluster to acknowledge the last records. Ctrl-C ends the mirror at once; "
            "the records since the last commit are then copied again by the next one."
        )
        while not mirror.await_shutdown(PATIENCE_S):
            pass


def _show_nothing() -> None:
    """Without a view."""


def read_boolean(text: str) -> bool:
    """The value of ``--abort.on.send.failure``. Raises ToolError."""
    if text.lower() not in ("true", "false"):
        raise ToolError(f'--abort.on.send.failure {text}: For input string: "{text}"; it must be true or false')
    return text.lower() == "true"
