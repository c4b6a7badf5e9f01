// The worker of the live cluster: Pyodide, the project's own source, and a loop that lets simulated time pass.
//
// From the page:  {link, own}     load everything and start a cluster: ?seed=1&actions=…
//                                 own: {broker, labs}, what the labs' pages have kept, for one of the brokers
//                 {words: […]}    a command (kafka_learn/live/commands.py), or a change of pace
//                 {file}          asks for the text of a file of the source
// To the page:    {progress}, {own: {broker, functions, notes}}, {shot}, {refused}, {failed}, {file, text}

const TURN_MS = 20;
const SHOT_MS = 100;

const SOURCE = "/app";

let live = null;
let python = null;
const waiting = [];

self.onmessage = ({ data }) => {
  if (data.link !== undefined) {
    start(data.link, data.own).catch((error) => postMessage({ failed: String(error.message ?? error) }));
  } else if (data.file !== undefined) {
    postMessage({ file: data.file, text: python.FS.readFile(`${SOURCE}/${data.file}`, { encoding: "utf8" }) });
  } else {
    waiting.push(JSON.stringify(data.words));
  }
};

async function start(link, own) {
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
  const unpack = async (archive) => python.unpackArchive(await (await archive).arrayBuffer(), "zip", { extractDir: SOURCE });
  await unpack(source);
  if (own) await unpack(fetch(new URL("../labs/engine/labs.zip", import.meta.url)));
  postMessage({ progress: "world" });
  await python.runPythonAsync(`
import sys
from pathlib import Path
sys.path.insert(0, "${SOURCE}")
from kafka_learn.live import page
page.prepare(Path("/library"))
`);
  python.globals.set("link", link);
  python.globals.set("own", own ? JSON.stringify(own) : "");
  const made = await python.runPythonAsync(`
import json
made, modules = None, {}
if own:
    from kafka_learn.labs.in_page.own_broker import own_modules
    wanted = json.loads(own)
    made = own_modules(wanted["labs"], Path("${SOURCE}/own"))
    modules = {wanted["broker"]: {module: Path(file) for module, file in made["files"].items()}}
json.dumps(made)
`);
  if (own) postMessage({ own: { ...JSON.parse(made), broker: own.broker } });
  live = await python.runPythonAsync("page.LivePage(link, modules)");
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
