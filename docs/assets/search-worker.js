// The search of the site: Material's own worker, with the index of the page's language and with Chinese words.
//
// kafka_learn/site/theme/main.html gives this script the page's language and the name of Material's worker: `?zh=search.….js`.
// Each language has an index of its own (kafka_learn/site/search_index.py). Material splits a Chinese query by looking up
// pieces of it in the index, but never looks up a piece that ends where the query ends. So the words are found here, longest first,
// and each ends with MARK, a character that is in no word. The word itself counts more than longer ones that begin with it.

const SETUP = 0, QUERY = 2; // of Material's messages
const MARK = "〇";
const LONGEST = 8;
const HAN = /\p{sc=Han}+/gu;

const [language, worker] = [...new URL(self.location).searchParams][0];
const material = new URL(`javascripts/workers/${worker}`, self.location);
const words = new Set();
const index = fetch(new URL(`../search/${language}.json`, self.location)).then(response => response.json()); // before it is asked for
let handle;

function noteWords(docs) {
  for (const { title, text, tags = [] } of docs)
    for (const field of [title, text, ...tags])
      for (const [word] of field.matchAll(HAN)) if (word.length > 1) words.add(word);
}

function wordsOf(run) {
  const found = [];
  for (let start = 0; start < run.length; start += found.at(-1).length) {
    let end = Math.min(run.length, start + LONGEST);
    while (end > start + 1 && !words.has(run.slice(start, end))) end--;
    found.push(run.slice(start, end));
  }
  return ` ${found.map(word => (words.has(word) ? `${word}${MARK}^9 ${word}${MARK}` : word)).join(" ")} `;
}

async function withIndex(message) {
  const { config, docs } = await index;
  noteWords(docs);
  return { ...message, data: { ...message.data, config, docs } };
}

// lunr's own Builder.add looks a word up nine times. This one builds the same index in two thirds of the time.
function add(doc, attributes = {}) {
  const place = doc[this._ref], fields = Object.keys(this._fields);
  this._documents[place] = attributes;
  this.documentCount++;
  for (const field of fields) {
    const terms = this.pipeline.run(this.tokenizer(this._fields[field].extractor(doc)));
    const name = new lunr.FieldRef(place, field).toString();
    const counts = this.fieldTermFrequencies[name] = Object.create(null);
    this.fieldLengths[name] = terms.length;
    for (const { str: word, metadata } of terms) {
      counts[word] = (counts[word] ?? 0) + 1;
      const posting = this.invertedIndex[word] ??= newPosting(this.termIndex++, fields);
      (posting[field][place] ??= { position: [] }).position.push(metadata.position);
    }
  }
}

function newPosting(number, fields) {
  const posting = Object.assign(Object.create(null), { _index: number });
  for (const field of fields) posting[field] = Object.create(null);
  return posting;
}

// Material's worker adds one listener and loads its languages relative to itself.
const listen = self.addEventListener.bind(self), load = self.importScripts.bind(self);
self.addEventListener = (_, listener) => { handle = listener; };
self.importScripts = (...scripts) => load(...scripts.map(script => new URL(script, material)));
load(material);
lunr.Builder.prototype.add = add;

listen("message", async ({ data: message }) => {
  if (message.type === SETUP) message = await withIndex(message);
  if (message.type === QUERY) message = { ...message, data: message.data.replace(HAN, wordsOf) };
  await handle({ data: message });
});
