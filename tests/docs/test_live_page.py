"""The live cluster in a real browser, from the click to a leader that was killed and is back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kafka_learn.labs.in_page.lab_bundle import lab_bundle
from kafka_learn.labs.lab import find_lab
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.live_page import live_engine
from kafka_learn.source import module_path
from tests.support import chromium

HTML = """<!doctype html><html lang="{language}"><body><div id="live"></div>
<script type="module" src="/assets/live/live.mjs"></script></body></html>"""
IN_SYNC = (
    "[...document.querySelectorAll('[data-role=isr]')].filter(cell => cell.textContent === '0, 1, 2').length === 3"
)
ACKNOWLEDGED = "document.querySelector('[data-role=acknowledged]')?.textContent.includes('{} acknowledged')"
WITHOUT_ONE = """[...document.querySelectorAll('[data-role=isr]')].every(cell => cell.textContent === '0, 2')
&& [...document.querySelectorAll('[data-role=leader]')].every(cell => '02'.includes(cell.textContent))"""

REPLAY = "import sys; from kafka_learn.live.replay import main; main(sys.argv[1])"

pytestmark = pytest.mark.skipif(
    chromium.chromium() is None or not live_engine.has_npm(), reason="needs Chromium, and npm for Pyodide"
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the page's files, for tests that change them or a profile of their own."""
    return written_site(tmp_path / "site")


def written_site(folder: Path) -> Path:
    """Write the page's files to their places, and a page of each language; returns the folder."""
    assets = folder / "assets" / "live"
    for path in (PROJECT_ROOT / "docs" / "assets" / "live").iterdir():
        assets.mkdir(parents=True, exist_ok=True)
        (assets / path.name).write_bytes(path.read_bytes())
    store = PROJECT_ROOT / "docs" / "assets" / "labs" / "store.mjs"
    (assets.parent / "labs").mkdir()
    (assets.parent / "labs" / store.name).write_bytes(store.read_bytes())
    list(live_engine.write(assets / "engine"))
    for language in ("en", "zh"):
        (folder / f"{language}.html").write_text(HTML.format(language=language), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    """A page of a browser that plays one link after the other: it keeps the compiled interpreter."""
    with (
        chromium.served(written_site(tmp_path_factory.mktemp("live"))) as address,
        chromium.page(tmp_path_factory.mktemp("profile")) as page,
    ):
        page.home = address
        yield page


@pytest.mark.soak
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_reader_kills_a_leader_and_sees_it_come_back(site: Path, tmp_path: Path) -> None:
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        page.open(address + "en.html")
        page.until("document.querySelector('[data-role=load]')")
        page.click("[data-role=load]")
        page.until(IN_SYNC)
        page.until("document.querySelector('[data-role=consumer]')")
        page.click("[data-role=produce]")
        page.until(ACKNOWLEDGED.format(10))
        page.click("[data-role=kill][data-broker='1']")
        page.until(WITHOUT_ONE)
        page.click("[data-role=produce]")
        page.until(ACKNOWLEDGED.format(20))
        page.click("[data-role=start][data-broker='1']")
        page.until(IN_SYNC)
        page.click("[data-role=freeze]")
        page.until("document.querySelector('[data-role=go]')")
        before = page.evaluate("document.querySelector('[data-role=clock]').value")
        page.click("[data-role=step]")
        page.until(f"document.querySelector('[data-role=clock]').value !== {before!r}")
        offsets = "[...document.querySelectorAll('[data-role={}]')].reduce((sum, cell) => sum + +cell.textContent, 0)"
        assert page.evaluate(offsets.format("leo")) == 3 * 20
        link = page.evaluate("document.querySelector('[data-role=share]').href")
        assert [link.count(each) for each in ("produce:10:all", "kill:1", "start:1")] == [2, 1, 1]
        page.evaluate("document.querySelector('[data-role=code]').open = true")
        page.until("document.querySelector('[data-role=source] .live-runs')")
        page.click("[data-role=produce]")
        ran = "[...document.querySelectorAll('[data-role=ran] [data-role=place]')].map(each => each.textContent)"
        page.until(f"document.querySelector('[data-role=step]').click() ?? {ran}.length")
        assert set(page.evaluate(ran)) & {"ShutdownableThread.run", "ShutdownableThread.is_running", "Selector.poll"}


def select(role: str, value: str) -> str:
    """JavaScript that makes a choice, as a reader does."""
    chosen = f"document.querySelector('select[data-role={role}]')"
    return f"{chosen}.value = {value!r}; {chosen}.dispatchEvent(new Event('change'))"


def shown(role: str, more: str = "") -> str:
    """JavaScript for the texts of all elements of a role."""
    return f"[...document.querySelectorAll('[data-role={role}]{more}')].map(each => each.textContent)"


@pytest.mark.soak
@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_reader_moves_replicas_leads_a_transaction_and_counts_words(
    site: Path, tmp_path: Path, language: str
) -> None:
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        page.open(f"{address}{language}.html")
        page.until("document.querySelector('[data-role=load]')")
        page.click("[data-role=load]")
        page.until(IN_SYNC)
        page.evaluate(select("min-insync", "1"))
        page.evaluate(select("unclean", "true"))
        page.evaluate(select("replicas", "1"))
        page.evaluate(select("partitions", "4"))
        settings = ("min-insync", "unclean", "replicas", "partitions")
        chosen = f"{list(settings)}.map(role => document.querySelector(`select[data-role=${{role}}]`).value).join()"
        page.until(f"{chosen} === '1,true,1,4'")
        page.evaluate(select("replicas", "3"))
        page.until(f"{shown('isr')}.join() === Array(4).fill('0, 1, 2').join()")
        page.click("[data-role=begin]")
        page.until("document.querySelector('[data-role=transaction][data-state=open]')")
        page.until(f"{shown('coordinated')}[0].includes('ONGOING')")
        total = "({}.reduce((sum, text) => sum + +text, 0))"
        page.until(f"{total.format(shown('leo'))} === 18 && {total.format(shown('hw'))} === 18")
        assert page.evaluate(total.format(shown("lso"))) == 0
        page.click("[data-role=commit]")
        page.until(f"{shown('coordinated')}[0].includes('COMPLETE_COMMIT') && {total.format(shown('lso'))} === 9")
        page.click("[data-role=lines]")
        for number in (1, 2):
            page.click(f"[data-role=instance-button][data-instance='{number}']")
        for number in (1, 2):
            tasks = f"document.querySelectorAll('[data-role=instance][data-instance=\"{number}\"] [data-role=task]')"
            page.until(f"{tasks}.length === 2")
        page.until(f"{shown('count')}.length === 14")
        page.click("[data-role=crash][data-client=instance-1]")
        page.until("!document.querySelector('[data-role=instance][data-instance=\"1\"]')")
        page.until(f"{shown('task')}.length === 4")
        link = page.evaluate("document.querySelector('[data-role=share]').href")
        assert all(each in link for each in ("replicas:1", "partitions:4", "begin:6", "commit", "crash:instance-1"))


@pytest.mark.soak
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_functions_of_a_lab_run_in_one_of_the_brokers(site: Path, tmp_path: Path) -> None:
    (site / "assets" / "labs" / "engine").mkdir()
    (site / "assets" / "labs" / "engine" / "labs.zip").write_bytes(lab_bundle())
    lab = find_lab("ch07-leader-selectors")
    row = {
        "files": {name: module_path(name).read_text(encoding="utf-8") for name in lab.modules},
        "tasks": [{"number": number, "mark": "✓"} for number in (1, 2)],
    }
    kept = json.dumps({"format": "kafka_lite labs 1", "labs": {lab.name: row}})
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        page.load(address + "en.html")
        page.until("document.querySelector('[data-role=load]')")
        assert not page.evaluate("document.querySelector('[data-role=own-broker]')")
        page.evaluate(f"localStorage.setItem('kafka_lite.labs', {json.dumps(kept)})")
        page.load(address + "en.html")
        page.until("document.querySelector('[data-role=own-broker]')")
        page.evaluate(select("own-broker", "2"))  # the first controller: it elects the leaders
        page.click("[data-role=load]")
        page.until(IN_SYNC)
        assert page.evaluate(shown("own", '[data-broker="2"]')) == ["with 2 of your functions"]
        assert not page.evaluate("document.querySelector('[data-role=share]')")
        page.evaluate("document.querySelector('[data-role=kill][data-broker=\"1\"]').click()")
        page.until(WITHOUT_ONE)


@pytest.mark.soak
@pytest.mark.nightly
def test_a_browser_that_cannot_run_it_says_so_in_the_language_of_the_page(site: Path, tmp_path: Path) -> None:
    script = (site / "assets" / "live" / "live.mjs").read_text(encoding="utf-8")
    (site / "assets" / "live" / "live.mjs").write_text("delete WebAssembly.Suspending;\n" + script, encoding="utf-8")
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        page.open(address + "zh.html")
        page.until("document.querySelector('[data-role=unable]')")
        assert page.evaluate("document.querySelector('[data-role=unable]').textContent").startswith(
            "这个浏览器运行不了"
        )
        assert not page.evaluate("document.querySelector('[data-role=load]')")


def link_with_faults(seed: int) -> str:
    """Records, and two faults that are drawn from the seed: a broker that is killed and returns, and another one.

    With an even seed they come at tenths of a second, where timers of brokers and turns of the page end, too.
    """
    random = Random(f"faults of {seed}")
    killed, other = random.sample(range(3), 2)
    second = random.choice([
        (f"cut:broker-{killed}:broker-{other}", f"heal:broker-{killed}:broker-{other}"),
        (f"cut:broker-{other}:zookeeper", f"heal:broker-{other}:zookeeper"),
        (f"pause:{other}", f"resume:{other}"),
        ("join:2", "leave:2"),
        ("replicas:1", "replicas:3"),
        ("begin:6", "commit"),
        ("begin:3", "crash:transaction"),
        ("open:1", "lines:5"),
    ])  # fmt: skip
    actions = ["produce:10:all", f"kill:{killed}", second[0], "produce:10:1", f"start:{killed}", second[1]]
    digits = 3 if seed % 2 else 1
    timed = (f"{6 + number * 0.9 + random.random() / 2:.{digits}f}:{action}" for number, action in enumerate(actions))
    return f"?seed={seed}&actions={','.join(timed)}&until=12"


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(1, 21))
def test_a_link_has_the_same_digest_in_the_page_and_outside(live: chromium.Page, seed: int) -> None:
    """The page plays it in turns of a tenth of a second at most, a terminal at once."""
    link = link_with_faults(seed)
    outside = subprocess.Popen(
        [sys.executable, "-c", REPLAY, link], cwd=PROJECT_ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    with outside:
        live.load(f"{live.home}en.html{link}")
        live.until("document.querySelector('[data-role=load]')")
        live.click("[data-role=load]")
        live.until("document.querySelector('[data-role=go]')", 600)
        shown = live.evaluate("document.querySelector('[data-role=digest]').textContent")
        printed, _ = outside.communicate()
    assert outside.returncode == 0, printed
    _, *steps_and_digest = printed.splitlines()[-1].split(", ")
    assert shown.split(", ")[1:] == steps_and_digest
