"""kafka-python leaves the sockets of connections that broke to the garbage collector."""

from __future__ import annotations

import gc
import logging
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def collect_garbage() -> Iterator[None]:
    """Import it into a module of tests with kafka-python: the sockets are closed, and nobody is told of it."""
    # pytest keeps what is logged, and that has the sockets: as tasks, and in the tracebacks of errors.
    logger = logging.getLogger("kafka")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    yield
    logger.setLevel(level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
