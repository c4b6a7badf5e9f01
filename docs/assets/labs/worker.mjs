// The worker of a lab's page: Pyodide, the project's source, the labs and pytest. It checks; the page ends it if it hangs.
//
// From the page:  {lab, language}  load everything
//                 {check: files}   the learner's modules: module → text
//                 {shipped: names} asks for the shipped modules
// To the page:    {progress}, {ready}, {told: result if the check were stopped now}, {result}, {shipped: module → text}, {failed}

const SOURCE = "/app";
const ENGINE = new URL("../live/engine/", import.meta.url);
const hasJspi = Boolean(WebAssembly.Suspending && WebAssembly.promising);
let page = null;
let python = null;

self.onmessage = ({ data }) => {
  (data.lab ? start(data) : data.shipped ? tell(data.shipped) : check(data.check)).catch((error) => postMessage({ failed: String(error.message ?? error) }));
};

async function start({ lab, language }) {
  postMessage({ progress: "engine" });
  const archives = [new URL("source.zip", ENGINE), new URL("./engine/labs.zip", import.meta.url)].map((url) => fetch(url));
  const { loadPyodide } = await import(new URL("pyodide.mjs", ENGINE).href);
  python = await loadPyodide({
    indexURL: ENGINE.href,
    env: { PYTHONHASHSEED: "0", HOME: "/home/pyodide" },
    stdout: (line) => console.log(line),
    stderr: (line) => console.warn(line),
  });
  postMessage({ progress: "source" });
  for (const archive of archives) python.unpackArchive(await (await archive).arrayBuffer(), "zip", { extractDir: SOURCE });
  python.globals.set("asked", python.toPy([lab, language, hasJspi]));
  page = await python.runPythonAsync(`
import sys
sys.path.insert(0, "${SOURCE}")
from kafka_learn.labs.in_page.page_start import start
start(*asked)
`);
  postMessage({ ready: true });
}

async function tell(names) {
  const text = (name) => python.FS.readFile(`${SOURCE}/${name.replaceAll(".", "/")}.py`, { encoding: "utf8" });
  postMessage({ shipped: Object.fromEntries(names.map((name) => [name, text(name)])) });
}

async function check(files) {
  const hear = (told) => postMessage({ told });
  const text = JSON.stringify(files);
  postMessage({ result: hasJspi ? await page.check.callPromising(text, hear) : page.check(text, hear) });
}
