// Types queries into the search of a built site, as its pages do: `node search_site.mjs SITE LANGUAGE` reads queries from standard
// input, one a line, and writes a JSON object for each: the locations of the pages found, best first, and milliseconds.
// It runs the site's own scripts, docs/assets/search-worker.js and Material's worker, with a worker's global scope made of files.

import fs from "fs";
import path from "path";
import readline from "readline";
import vm from "vm";

const [site, language] = process.argv.slice(2);
const config = JSON.parse(
  fs.readFileSync(path.join(site, language === "zh" ? "zh" : "", "index.html"), "utf8")
    .match(/<script id="__config"[^>]*>(.*?)<\/script>/s)[1],
);
const file = url => new URL(url).pathname;
const own = new URL(config.search, `file://${path.resolve(site)}/${language === "zh" ? "zh/" : ""}`);
const posted = [];
const listeners = [];
const scope = vm.createContext({
  URL, console,
  location: own,
  addEventListener: (_, listener) => listeners.push(listener),
  postMessage: message => posted.push(message),
  fetch: async url => ({ json: async () => JSON.parse(fs.readFileSync(file(url), "utf8")) }),
});
scope.self = scope;
scope.importScripts = (...urls) =>
  urls.forEach(url => vm.runInContext(fs.readFileSync(file(new URL(url, own)), "utf8"), scope));
scope.importScripts(own);

async function send(message) {
  await Promise.all(listeners.map(listener => listener({ data: message })));
  return posted.pop();
}

const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"));
await send({ type: 0, data: { ...index, options: { suggest: false } } });
for await (const query of readline.createInterface({ input: process.stdin })) {
  const start = performance.now();
  const { items } = (await send({ type: 2, data: query })).data;
  const found = items.map(group => group[0].location);
  process.stdout.write(JSON.stringify({ query, found, ms: performance.now() - start }) + "\n");
}
