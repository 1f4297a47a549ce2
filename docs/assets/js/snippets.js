// What a result shows of its text: where the words stand, and the piece around them. Pure.

const PLACES = [
  ["old", "in an old wording"],
  ["lead", "in the description"],
  ["text", "in the message"],
  ["hints", "in a hint"],
  ["program", "in the program"],
];
const LENGTH = 130;
const BEFORE = 40;

/** Cut a text into [{text, marked}], marked where one of the spellings stands. */
export function highlight(text, spellings) {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [{ text, marked: false }]; // positions would not fit
  const marked = new Uint8Array(text.length);
  for (const spelling of spellings) {
    for (let at = lower.indexOf(spelling); at >= 0; at = lower.indexOf(spelling, at + 1)) {
      marked.fill(1, at, at + spelling.length);
    }
  }
  return runs(text, marked);
}

function runs(text, marked) {
  const parts = [];
  for (let start = 0, end = 0; start < text.length; start = end) {
    while (end < text.length && marked[end] === marked[start]) end += 1;
    parts.push({ text: text.slice(start, end), marked: Boolean(marked[start]) });
  }
  return parts;
}

/** For a result whose title does not hold every word: {place, text} of the piece that holds most of the others. */
export function whereFound(entry, words) {
  const missing = words.filter((one) => one.id !== entry.key && !holds(entry.lower.title, one) && !holds(entry.key, one));
  if (!missing.length) return null;
  let best = null;
  for (const [field, place] of PLACES) {
    for (const item of piecesOf(entry, field)) {
      const lower = item.toLowerCase();
      const held = missing.filter((one) => holds(lower, one)).length;
      if (held > (best?.held ?? 0)) best = { place, item, held };
    }
  }
  return best && { place: best.place, text: cut(best.item, missing) };
}

function piecesOf(entry, field) {
  const pieces = [entry[field] ?? []].flat();
  return field === "program" ? pieces.flatMap((program) => program.split("\n")) : pieces;
}

function holds(lower, { spellings }) {
  return spellings.some((spelling) => lower.includes(spelling));
}

function cut(item, words) {
  const text = item.replace(/\s+/g, " ").trim();
  if (text.length <= LENGTH) return text;
  const lower = text.toLowerCase();
  const places = words.flatMap(({ spellings }) => spellings.map((spelling) => lower.indexOf(spelling))).filter((at) => at >= 0);
  let start = Math.max(0, Math.min(...places, text.length) - BEFORE);
  if (start + LENGTH > text.length) start = text.length - LENGTH;
  if (start) start = wordStart(text, start);
  const end = start + LENGTH;
  return `${start ? "…" : ""}${text.slice(start, end).trim()}${end < text.length ? "…" : ""}`;
}

function wordStart(text, at) {
  const space = text.indexOf(" ", at);
  return space >= 0 && space - at < BEFORE / 2 ? space + 1 : at;
}
