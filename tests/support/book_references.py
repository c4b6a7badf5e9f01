"""The references of all modules to the book, read once in a process: parsing a thousand sources takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from kafka_lite.book import class_index
from kafka_lite.book.module_reference import module_references

all_references = cache(module_references)
"""Like ``module_references()``; no test changes a module."""


@contextmanager
def sources_read_once() -> Iterator[pytest.MonkeyPatch]:
    """Within the block, the class index uses ``all_references()``. Yields the patch, so that a test can patch more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_index, "module_references", all_references)
        yield patch
