"""Freed buffers of requests are reused instead of returned to the kernel."""

import os
import subprocess
import sys

import pytest

from kafka_lite.common.process.malloc import MMAP_THRESHOLD_BYTES, keep_freed_memory, resident_bytes

BUFFERS = 100
BUFFER_BYTES = 1_000_000
COUNT_PAGE_FAULTS = f"""
import resource, sys
from kafka_lite.common.process.malloc import keep_freed_memory
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
def test_freed_memory_is_reused():
    try:
        os.confstr("CS_GNU_LIBC_VERSION")
    except ValueError:
        pytest.skip("needs glibc")
    assert BUFFER_BYTES < MMAP_THRESHOLD_BYTES
    pages = BUFFERS * BUFFER_BYTES // os.sysconf("SC_PAGE_SIZE")
    assert page_faults("keep") < pages / 10


def test_malloc_variables_of_the_user_are_respected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    assert keep_freed_memory() is False


def test_a_python_without_ctypes_keeps_the_defaults(monkeypatch: pytest.MonkeyPatch):
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert keep_freed_memory() is False


RETURN = """
from kafka_lite.common.process.malloc import keep_freed_memory, resident_bytes, return_freed_memory
assert keep_freed_memory()
blocks = [bytearray(100_000) for _ in range(300)]
last = bytearray(100_000)  # above them, so that they are not at the end of the heap
full = resident_bytes()
del blocks
assert return_freed_memory()
print(full - resident_bytes())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be told")
def test_free_memory_between_used_blocks_is_returned() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", RETURN], env=environment, capture_output=True, check=True, text=True)
    assert int(done.stdout) > 20_000_000


def test_this_process_is_in_memory() -> None:
    assert not sys.platform.startswith("linux") or resident_bytes() > 10_000_000
