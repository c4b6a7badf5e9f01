"""What kafka-python and aiokafka leave to the garbage collector: sockets of broken connections that stay open.

Python warns of such a socket when it collects it, and pytest blames the test that runs at that moment. So modules that
may have used these clients collect at their own end, without warnings.
"""

from __future__ import annotations

import gc
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

OTHER_CLIENTS = ("kafka", "aiokafka")


@contextmanager
def garbage_of_other_clients_collected() -> Iterator[None]:
    """Collect the garbage at the end, if another client has been imported by then.

    What is alive at the beginning is not gone through: a process that keeps the syntax trees of all modules, for its
    structural tests, would otherwise work for two seconds at the end of each file. It is frozen only then, since at the
    end pytest still refers to what the last test has used.
    """
    # pytest keeps log records, which refer to the sockets: as tasks, and in the tracebacks of errors.
    loggers = [logging.getLogger(name) for name in OTHER_CLIENTS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    if _collected():
        gc.freeze()
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    _collected()


def _collected() -> bool:
    """Collect, if another client has been imported; returns whether it has."""
    if not any(name in sys.modules for name in OTHER_CLIENTS):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    return True
