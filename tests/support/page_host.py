"""Takes from a process what a page in a browser does not have: sockets, processes, the host's threads, modules in C.

    python -m tests.support.page_host LAB …    # prints a line of JSON for each: the result of the shipped code

The same interpreter then fails where Pyodide's would, within a second and without a browser. Threads are those of
``kafka_learn.labs.in_page.threads``, on the package greenlet as a page's are on promises.
"""

from __future__ import annotations

import _thread
import hashlib
import json
import os
import sys
import threading
from typing import Any, NoReturn

MISSING = frozenset({
    *("cramjam", "crc32c", "lz4", "xxhash", "zstandard"),
    *("_ssl", "ssl", "_hashlib", "fcntl", "resource", "_sqlite3", "_lzma", "termios", "readline", "_curses"),
    *("confluent_kafka", "psutil", "pyspark", "pyarrow", "rocksdict", "sqlalchemy"),
})  # fmt: skip
"""Modules that Pyodide's standard library lacks, and packages that are not shipped with the page."""
REFUSED = ("socket.__new__", "subprocess.Popen", "os.fork", "os.posix_spawn", "os.system")
"""Audit events of what a page cannot do."""


class _NotThere:
    """Finds none of the missing modules."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"a page has no {name}", name=name)


def _no_thread(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("can't start new thread")


def restrict() -> None:
    """Make this process like a page, for good."""
    for name in [name for name in sys.modules if name.partition(".")[0] in MISSING]:
        del sys.modules[name]
    sys.meta_path.insert(0, _NotThere())  # type: ignore[arg-type]
    starters = ((threading, "_start_new_thread"), (threading, "_start_joinable_thread"), (_thread, "start_new_thread"))
    for module, name in starters:
        if hasattr(module, name):
            setattr(module, name, _no_thread)
    vars(hashlib).pop("pbkdf2_hmac", None)
    vars(os).pop("SEEK_HOLE", None)
    sys.addaudithook(_refuse)


def _refuse(event: str, _arguments: tuple[object, ...]) -> None:
    if event in REFUSED:
        raise PermissionError(f"a page cannot do this: {event}")


def main(names: list[str]) -> None:
    """Check the shipped code of labs."""
    restrict()
    from greenlet import getcurrent, greenlet

    from kafka_learn.labs.in_page.page_check import LabPage, prepare
    from kafka_learn.source import module_path

    with prepare(greenlet, getcurrent):
        for name in names:
            page = LabPage(name, "en")
            files = {module: module_path(module).read_text(encoding="utf-8") for module in page.lab.modules}
            shown = json.loads(page.check(json.dumps(files), lambda _: None))
            sys.stdout.write(json.dumps({"lab": name, **shown}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
