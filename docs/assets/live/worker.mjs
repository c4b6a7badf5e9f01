// The worker of the live cluster: Pyodide, the project's own source, and a loop that lets simulated time pass.
//
// From the page:  {link}          load everything and start a cluster: ?seed=1&actions=…
//                 {words: […]}    a command (kafka_learn/live/commands.py), or a change of pace
//                 {file}          asks for the text of a file of the source
// To the page:    {progress}, {shot}, {refused}, {failed}, {file, text}

const TURN_MS = 20;
const SHOT_MS = 100;

const SOURCE = "/app";

let live = null;
let python = null;
const waiting = [];

self.onmessage = ({ data }) => {
  if (data.link !== undefined) {
    start(data.link).catch((error) => postMessage({ failed: String(error.message ?? error) }));
  } else if (data.file !== undefined) {
    postMessage({ file: data.file, text: python.FS.readFile(`${SOURCE}/${data.file}`, { encoding: "utf8" }) });
  } else {
    waiting.push(JSON.stringify(data.words));
  }
};

async function start(link) {
  postMessage({ progress: "engine" });
  const { loadPyodide } = await import("./engine/pyodide.mjs");
  const source = fetch(new URL("./engine/source.zip", import.meta.url));
  python = await loadPyodide({
    indexURL: new URL("./engine/", import.meta.url).href,
    env: { PYTHONHASHSEED: "0", HOME: "/home/pyodide" },
    stdout: (line) => console.log(line),
    stderr: (line) => console.warn(line),
  });
  postMessage({ progress: "source" });
  python.unpackArchive(await (await source).arrayBuffer(), "zip", { extractDir: SOURCE });
  postMessage({ progress: "world" });
  await python.runPythonAsync(`
import sys
from pathlib import Path
sys.path.insert(0, "${SOURCE}")
from kafka_learn.live import page
page.prepare(Path("/library"))
`);
  python.globals.set("link", link);
  live = await python.runPythonAsync("page.LivePage(link)");
  await play();
}

async function play() {
  let before = performance.now();
  let shown = 0;
  for (;;) {
    while (waiting.length) {
      const refused = await live.do.callPromising(waiting.shift());
      if (refused) postMessage({ refused });
    }
    const now = performance.now();
    await live.turn.callPromising((now - before) / 1000);
    before = now;
    if (now - shown >= SHOT_MS) {
      shown = now;
      postMessage({ shot: await live.shot.callPromising() });
    }
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, TURN_MS - (performance.now() - now))));
  }
}
