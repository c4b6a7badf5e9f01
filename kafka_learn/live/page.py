"""The live cluster in a page: what its worker calls, in plain values that JavaScript understands.

Not in Kafka. The worker first makes the interpreter ready, then has a cluster::

    prepare(Path("/library"))       once: greenlets, and the standard library as files
    page = LivePage(seed)
    page.turn(elapsed_s)            every few milliseconds
    page.shot()                     the news as JSON
    page.do('["kill", 1]')          an empty text, or why not
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kafka_learn.live.live_cluster import LiveCluster

FOLDER: Final = Path("/world")
"""The place of the world's files, in the page's memory."""
_LINUX_LINKS: Final = """
FS => FS.lookupPath("/proc/self/fd").node.node_ops.lookup = (folder, name) => {
  const stream = FS.getStream(Number(name));
  if (!stream) throw new FS.ErrnoError(44);
  return stream.node;
}
"""
"""Makes a path through the descriptor of an open folder lead into it, as on Linux. Error 44 is "no such file"."""


def prepare(folder: Path) -> None:
    """Make this interpreter ready for a world. Must be called before anything imports the simulator."""
    import pyodide_js
    from pyodide.code import run_js

    from kafka_learn.live import promises

    run_js(_LINUX_LINKS)(pyodide_js.FS)
    promises.install()
    from kafka_learn.live import standard_library

    archive = next(Path(path) for path in sys.path if path.endswith(".zip"))
    standard_library.unpack(archive, folder)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True


class LivePage:
    """A live cluster for JavaScript."""

    def __init__(self, link: str, own: Mapping[int, Mapping[str, Path]]) -> None:
        """``link`` is the query of the page's address, see ``link``. Raises ValueError if it is damaged.

        If it says until when it runs, time passes quickly until then, and stops. ``own`` is the cluster's.
        """
        from kafka_learn.live.link import Link
        from kafka_learn.live.live_cluster import LiveCluster

        wanted = Link.of(link)
        self._live: LiveCluster = LiveCluster(wanted.seed, FOLDER, own)
        self._live.expect(wanted.actions_on(self._live.machines))
        if wanted.until_s is not None:
            self._live.pace.hurry(wanted.until_s)

    def turn(self, elapsed_s: float) -> None:
        """Let time pass after so many real seconds."""
        self._live.turn(elapsed_s)

    def shot(self) -> str:
        """A snapshot as JSON, with the events since the last one."""
        return json.dumps(self._live.snapshot())

    def do(self, words: str) -> str:
        """Carry out a command in JSON. Returns why not, or nothing.

        Commands are the cluster's, ``speed``, ``time``, ``watch``, ``run`` (a cell of the console) and ``interrupt``.
        """
        name, *arguments = json.loads(words)
        pace = self._live.pace
        try:
            if name == "speed":
                pace.set_speed(float(arguments[0]))
            elif name == "time":
                {"stop": pace.pause, "go": pace.resume, "step": pace.step}[arguments[0]]()
            elif name == "watch":
                self._live.code.watch(arguments[0])
            elif name == "run":
                self._live.console.run(arguments[0])
            elif name == "interrupt":
                self._live.console.interrupt()
            else:
                self._live.do([name, *arguments])
        except (ValueError, KeyError) as error:
            return str(error)
        return ""
