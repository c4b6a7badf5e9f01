"""Starts a lab in a page: what its worker calls first, inside Pyodide.

Not in Kafka. Threads are greenlets on promises, as in the live cluster. A browser that cannot suspend a call of Python
(JSPI, see ``kafka_learn/live/promises.py``) has none: tests with threads fail there with a sentence, the others run.
"""

from __future__ import annotations

import sys
import types
from typing import Any, NoReturn

_kept: list[object] = []
"""The stand-ins' way back, which nobody goes: without a reference they would be taken away."""


def start(name: str, language: str, has_jspi: bool) -> object:
    """The page of a lab (``LabPage``). Must be called before anything imports the simulator."""
    if has_jspi:
        from kafka_learn.live import promises

        promises.install()
    else:
        main = object()
        module = types.ModuleType("greenlet")
        module.__dict__.update(greenlet=refused, getcurrent=lambda: main)
        sys.modules["greenlet"] = module
    sys.dont_write_bytecode = True
    from kafka_learn.labs.in_page.page_check import LabPage, prepare

    greenlets: Any = sys.modules["greenlet"]
    _kept.append(prepare(greenlets.greenlet, greenlets.getcurrent))
    return LabPage(name, language)


def refused(*_: object) -> NoReturn:
    """The thread that a browser without JSPI cannot make. Raises RuntimeError."""
    raise RuntimeError("this browser cannot run a test with threads (it has no JSPI): check this lab in a clone")
