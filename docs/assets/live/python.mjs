// Colours for Python: the parts of a text, with the classes that Pygments gives them.

const KEYWORDS = "False None True and as assert async await break class continue def del elif else except finally for from "
  + "global if import in is lambda nonlocal not or pass raise return try while with yield";
const TOKENS = new RegExp([
  String.raw`(?<c1>#[^\n]*)`,
  String.raw`(?<s>[rbfu]{0,2}(?:"""[^]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))`,
  String.raw`(?<nd>^[ \t]*@[\w.]+)`,
  String.raw`(?<mi>\b\d[\w.]*)`,
  String.raw`(?<k>\b(?:${KEYWORDS.split(" ").join("|")})\b)`,
  String.raw`(?<nf>(?<=\bdef )\w+)`,
].join("|"), "gm");

// The lines of a text, each a list of [class or "", part].
export function highlighted(text) {
  const lines = [[]];
  const add = (kind, part) => part.split("\n").forEach((piece, at) => {
    if (at) lines.push([]);
    if (piece) lines.at(-1).push([kind, piece]);
  });
  let end = 0;
  for (const found of text.matchAll(TOKENS)) {
    add("", text.slice(end, found.index));
    add(Object.entries(found.groups).find(([, part]) => part !== undefined)[0], found[0]);
    end = found.index + found[0].length;
  }
  add("", text.slice(end));
  return lines;
}
