"""Threads of a hunt. It runs inside the world, with the world's ``threading``."""

from __future__ import annotations

import threading
from collections.abc import Callable


def together(**works: Callable[[], None]) -> None:
    """Run functions at the same time, each in a thread of that name, to their end. Raises what the first one raised."""
    raised: list[BaseException] = []

    def note_error(error: Exception) -> None:
        raised.append(error)

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - whatever a learner's code raises is what was found
                note_error(error)

        return run

    threads = [threading.Thread(target=guarded(work), name=name) for name, work in works.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
