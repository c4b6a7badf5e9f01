"""Buffers of requests are not fetched from the kernel anew for each."""

import os
import subprocess
import sys

import pytest

from kafka_lite.common.malloc import MMAP_THRESHOLD_BYTES, keep_freed_memory

BUFFERS = 100
BUFFER_BYTES = 1_000_000
COUNT_PAGE_FAULTS = f"""
import resource, sys
from kafka_lite.common.malloc import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
bytearray({BUFFER_BYTES})
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({BUFFERS}):
    bytearray({BUFFER_BYTES})
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(how: str) -> int:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", COUNT_PAGE_FAULTS, how]
    return int(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be told")
def test_freed_memory_is_used_again():
    try:
        os.confstr("CS_GNU_LIBC_VERSION")
    except ValueError:
        pytest.skip("only glibc can be told")
    assert BUFFER_BYTES < MMAP_THRESHOLD_BYTES
    pages = BUFFERS * BUFFER_BYTES // os.sysconf("SC_PAGE_SIZE")
    assert page_faults("keep") < pages / 10


def test_who_has_set_variables_for_malloc_knows_better(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    assert keep_freed_memory() is False


def test_a_python_without_ctypes_goes_without(monkeypatch: pytest.MonkeyPatch):
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert keep_freed_memory() is False
