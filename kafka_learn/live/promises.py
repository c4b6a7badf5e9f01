"""Greenlets in a page: Pyodide suspends a call of Python until a promise of JavaScript is fulfilled.

Not in Kafka. It takes a browser with *JavaScript Promise Integration* (JSPI): Chrome and Edge
from 137 on, Firefox from 153, Safari from 27. Each greenlet is a call of its own, and waits for a promise of its own::

    begin    a promise for me; in a microtask: callPromising(body)         me waits
    swap     a promise for me; fulfil the target's                         me waits
    leave    fulfil the target's; the call of body returns
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Final

from pyodide.code import run_js
from pyodide.ffi import create_proxy, run_sync

from kafka_learn.live.greenlets import provider

_STACKS: Final = """
(() => {
  const fulfil = new Map();
  const suspend = me => new Promise(resolve => fulfil.set(me, resolve));
  const resume = target => { const resolve = fulfil.get(target); fulfil.delete(target); resolve(); };
  return [
    (me, body) => {
      const promise = suspend(me);
      queueMicrotask(() => body.callPromising().catch(error => console.error(`greenlet: ${error}`)));
      return promise;
    },
    (me, target) => { const promise = suspend(me); resume(target); return promise; },
    resume,
  ];
})()
"""


class PromiseSwitcher:
    """A switcher of stacks that wait for promises."""

    def __init__(self) -> None:
        self._begin, self._swap, self._resume = run_js(_STACKS)
        self.switches = 0
        """How often a stack was suspended."""

    def begin(self, me: int, body: Callable[[], None]) -> None:
        """Call ``body`` on a stack of its own; return when somebody resumes ``me``."""
        self.switches += 1
        run_sync(self._begin(me, create_proxy(body)))

    def swap(self, me: int, target: int) -> None:
        """Resume a suspended stack; return when somebody resumes ``me``."""
        self.switches += 1
        run_sync(self._swap(me, target))

    def leave(self, target: int) -> None:
        """Resume a suspended stack, and return, so that this one ends."""
        self._resume(target)


def install() -> None:
    """Provide the module ``greenlet``."""
    kind = provider(PromiseSwitcher())
    module = types.ModuleType("greenlet")
    module.__dict__.update(greenlet=kind, getcurrent=lambda: kind.current)
    sys.modules["greenlet"] = module
