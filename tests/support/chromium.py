"""A headless Chromium for tests: Debian's, driven by its own protocol through a pipe, so that it takes no driver."""

from __future__ import annotations

import functools
import http.server
import itertools
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.support.eventually import eventually

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str | None:
    """The program; None if there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}  # noqa: RUF012

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of the folder's files."""
    handler = functools.partial(_QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


class Page:
    """One page. Messages of the protocol are JSON, each ended by a zero byte."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer = bytearray()
        self._numbers = itertools.count(1)
        self._session = ""
        self.home = ""
        """The address of the site, for tests that share a page."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def open(self, url: str) -> None:
        """Go to an address."""
        self._ask("Page.navigate", url=url)

    def load(self, url: str) -> None:
        """Go to an address, and wait until the page and its scripts are there."""
        self.evaluate("window.isLeft = true")
        self.open(url)
        self.until("!window.isLeft && document.readyState === 'complete'")

    def show_on(self, width: int, height: int, *, is_dark: bool = False) -> None:
        """Use a screen of this size, in CSS pixels, whose owner likes it dark or light."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def press(self, key: str) -> None:
        """Press and release a key, such as ArrowRight, where the focus is."""
        for kind in ("rawKeyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=key)

    def write(self, text: str) -> None:
        """Write a text where the focus is."""
        self._ask("Input.insertText", text=text)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript. Raises AssertionError if it throws."""
        outcome = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in outcome, outcome
        return outcome["result"].get("value")

    def until(self, condition: str, most_s: float = 240) -> None:
        """Wait until an expression is true. Raises AssertionError, which shows the page's text."""
        shown = functools.partial(self.evaluate, "document.body.innerText")
        eventually(lambda: self.evaluate(f"Boolean({condition})"), lambda: f"{condition}\n{shown()}", most_s)

    def click(self, selector: str) -> None:
        """Click the first element of a selector of CSS."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    def _ask(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (reply := self._next()).get("id") != number:
            pass
        assert "error" not in reply, reply
        return reply["result"]

    def _next(self) -> Any:
        while b"\0" not in self._buffer:
            data = os.read(self._from, 1 << 16)
            assert data, "the browser has ended"
            self._buffer += data
        message, _, rest = self._buffer.partition(b"\0")
        self._buffer = rest
        return json.loads(message)


@contextmanager
def page(profile: Path) -> Iterator[Page]:
    """A page of a browser of its own."""
    program = chromium()
    assert program is not None, "no Chromium"
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    flags = (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}",
        # A page that nobody looks at would get a low priority and few timers.
        "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
    )  # fmt: skip
    # The browser reads from descriptor 3 and writes to 4; a shell puts them there.
    script = f'exec "$@" 3<&{to_read} 4>&{from_write}'
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", program, *flags], pass_fds=(to_read, from_write), stderr=subprocess.DEVNULL
    )
    os.close(to_read)
    os.close(from_write)
    try:
        yield Page(to_write, from_read)
    finally:
        os.close(to_write)
        process.terminate()
        process.wait()
        os.close(from_read)
