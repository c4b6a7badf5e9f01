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

    What is alive then is not gone through again: a process that keeps the syntax trees of all modules, for its
    structural tests, would otherwise work for two seconds at the end of each file.
    """
    # pytest keeps log records, which refer to the sockets: as tasks, and in the tracebacks of errors.
    loggers = [logging.getLogger(name) for name in OTHER_CLIENTS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    if any(name in sys.modules for name in OTHER_CLIENTS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        gc.freeze()
