"""The number of files that this process may have open: raise it, and check that some are left.

Kafka 0.10.2: none; the JVM raises the limit itself (MaxFDLimit) · book 7.4
"""

from __future__ import annotations

import contextlib
import os


def raise_open_files_limit() -> None:
    """Raise this process's limit of open files to the maximum; child processes inherit it. No-op without a limit."""
    try:
        import resource
    except ImportError:  # as in a page in a browser
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):  # macOS rejects limits above one that it does not report
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def check_open_files(spare: int) -> None:
    """Check that ``spare`` more files could be opened. Raises OSError EMFILE if not."""
    opened: list[int] = []
    try:
        while len(opened) < spare:
            opened.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    finally:
        for fd in opened:
            os.close(fd)
