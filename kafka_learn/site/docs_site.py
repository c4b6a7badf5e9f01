"""The docs site: ``python -m kafka_learn.site build`` and ``… serve``.

``build`` is strict: an unknown symbol, a failing notebook, a dead link or anchor, or a page that loads anything from
an outside host makes it exit with code 1 and a line that names the page.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.build_progress import FIRST_BUILD, BuildProgress
from kafka_learn.site.built import moved_pages
from kafka_learn.site.last_build import LastBuild

SITE = PROJECT_ROOT / "site"
WATCHED = ("docs", "chapters", "labs", "kafka_lite", "kafka_learn")
POLL_S = 1.0
MAX_PORT = 65_535
_QUIET = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
"""Disables the announcements that Material prints to stderr."""
_CHATTER = ("Building prefix dict", "Loading model", "Prefix dict has been built", "Dumping model")
"""Start-up messages of the Chinese search index's segmenter."""


def build(target: Path = SITE) -> int:
    """Stage, build strictly into ``target``, and check the built pages; returns the exit code.

    The variable ``SITE_URL`` is the address at which the site will be published, for its sitemap.xml. If nothing has
    changed since the last build into ``target``, it is over after the staging.
    """
    from kafka_learn.site.link_check import check
    from kafka_learn.site.staging import STAGE

    if _stage():
        return 1
    site_url = os.environ.get("SITE_URL", "")
    last_build = LastBuild(target, STAGE, site_url)
    if last_build.is_current():
        sys.stdout.write(f"nothing has changed: the site is in {target}{os.sep}index.html\n")
        return 0
    last_build.forget()
    with BuildProgress().spinner("mkdocs, strictly"):
        code = _mkdocs("build", "--strict", "--site-dir", str(target), leave_out=("INFO",))
    if code:
        return 1
    list(moved_pages.write(target))
    problems = check(target, site_url)
    if not problems:
        last_build.note()
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    sys.stdout.write(f"{len(problems)} problems\n" if problems else f"the site is in {target}{os.sep}index.html\n")
    return 1 if problems else 0


def serve(address: str) -> int:
    """Serve the site until Ctrl-C, restaging it whenever a page or the code that it shows changes.

    ``address`` is host:port. Returns 1 before anything is built if nobody can listen there.
    """
    if problem := why_not_servable(address):
        sys.stderr.write(f"{problem}\n")
        return 1
    if _stage():
        return 1
    stopped = threading.Event()
    threading.Thread(target=_restage_on_change, args=(stopped,), name="site-stager", daemon=True).start()
    try:
        return _mkdocs("serve", "--dev-addr", address)
    except KeyboardInterrupt:
        return 0
    finally:
        stopped.set()


def why_not_servable(address: str) -> str:
    """Why no server can listen at host:port, and what to do; empty if one can."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) <= MAX_PORT:
        return f"--address {address} is not HOST:PORT, such as 127.0.0.1:8000"
    try:
        with socket.create_server((host, int(port))):
            return ""
    except OSError as error:
        reason = error.strerror or error
        other = f'make site ARGS="--address {host}:{int(port) % MAX_PORT + 1}"'
        return f"The site cannot be served at {address} ({reason}): end what uses the port, or choose another: {other}"


def _stage() -> int:
    """Stage in a separate process: pages may import any module, and modules change while the site is served."""
    return subprocess.call([sys.executable, "-m", "kafka_learn.site", "stage"], cwd=PROJECT_ROOT)


def _mkdocs(*arguments: str, config: Path = PROJECT_ROOT / "mkdocs.yml", leave_out: tuple[str, ...] = ()) -> int:
    """Run mkdocs without the output lines that begin with ``leave_out``.

    mkdocs's ``--quiet`` is no alternative: it does not count warnings, so a strict build would not fail.
    """
    command = [sys.executable, "-m", "mkdocs", *arguments, "--config-file", str(config)]
    environment = {**os.environ, **_QUIET}
    process = subprocess.Popen(command, cwd=PROJECT_ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process.stderr as messages:
        for line in messages:
            if not line.startswith((*_CHATTER, *leave_out)):
                sys.stderr.write(line)
    return process.wait()


def _restage_on_change(stopped: threading.Event) -> None:
    seen = _fingerprint()
    while not stopped.wait(POLL_S):
        now = _fingerprint()
        if now != seen:
            _stage()
            seen = now


def _fingerprint() -> dict[Path, int]:
    files = (path for folder in WATCHED for path in (PROJECT_ROOT / folder).rglob("*") if path.suffix != ".pyc")
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


def _run_stage() -> int:
    from kafka_learn.notebooks import NotebookError
    from kafka_learn.site.directives import DirectiveError
    from kafka_learn.site.lab_page import lab_files
    from kafka_learn.site.live_page import live_engine
    from kafka_learn.site.staging import STAGE, stage

    progress = BuildProgress()
    if not STAGE.exists():
        progress.say(FIRST_BUILD)
    if not (has_engine := live_engine.has_npm()):
        progress.say("There is no npm, so the pages of the live cluster and the labs have no Python interpreter.")
    try:
        live, labs = (live_engine.write, lab_files.write) if has_engine else (None, None)
        stage(track=progress.track, live=live, labs=labs)
    except (DirectiveError, NotebookError, live_engine.EngineError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run ``build``, ``serve`` or ``stage``; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m kafka_learn.site", description="Build the docs site.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("build", help="build into site/; fail on any problem")
    verbs.add_parser("stage", help="only stage the pages in .build/docs")
    serving = verbs.add_parser("serve", help="serve, and rebuild on change")
    serving.add_argument("--address", default="127.0.0.1:8000", help="host:port to listen on")
    options = parser.parse_args(arguments)
    if options.verb == "build":
        return build()
    return serve(options.address) if options.verb == "serve" else _run_stage()
