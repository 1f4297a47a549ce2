// Which breaks a text finds, best first. Pure: no page, no network. tests/search_queries.yml measures it.

import { isOneEdit } from "./typos.js";

// What a word is worth, by the place where it was found.
const FIELDS = { title: 10, alias: 10, old: 7, lead: 6, calls: 6, fix: 4, more: 4, uses: 3, says: 2, kind: 0.5 };
const ENOUGH = 2; // a word that is worth less is mentioned, not meant
// How well a word of the index fits a word that was typed.
const FIT = { whole: 1, stem: 0.85, part: 0.7, start: 0.6, kin: 0.5, typo: 0.5, inside: 0.3 };
// How likely it is that somebody meets a break: retired, contrived, from public code, seen in a real program.
const MET = [0.6, 0.75, 1, 1.2];
const EXACT = 1000; // the title itself comes first
const IN_CODE = 3; // a title that has the code as it was typed
// Words that say little about a program: found, they count a little; missing, they are not missed.
const LITTLE = new Set(
  `a an and are as at be by can cannot do does each every for from has have how i in inside into is it its my no not of on
  or our out over so that the then there this to torch when with within without you your error errors fail fails failed
  problem using use used call called code function python`.split(/\s+/),
);
const LITTLE_COUNTS = 0.1;
const NAME = /[\p{L}\p{N}_]+/gu;

// The index

/**
 * What search works on: entries of breaks.js, and where each word stands. `before` is an expression for what torch puts
 * before the words of a message: nobody who searches means it. `kindOf` gives the text of an entry's kind.
 */
export function buildIndex(breaks, before, kindOf = () => "") {
  const entries = breaks.map((entry, position) => ({ ...entry, position, key: entry.id.toLowerCase() }));
  const places = new Map(); // word -> Map(entry -> what it is worth there)
  for (const entry of entries) {
    entry.titles = [entry.title, entry.old, entry.alias].flat().filter(Boolean).map(fold);
    for (const [field, worth] of Object.entries(FIELDS)) {
      const text = field === "kind" ? kindOf(entry) : [entry[field] ?? []].flat().join("\n");
      for (const [word, fit] of indexed(text)) {
        if (!places.has(word)) places.set(word, new Map());
        atLeast(places.get(word), entry, worth * fit);
      }
    }
  }
  const stems = new Map(); // stem -> words that have it
  for (const word of places.keys()) stems.set(stemOf(word), [...(stems.get(stemOf(word)) ?? []), word]);
  return { entries, places, stems, before: before ? new RegExp(before, "i") : null };
}

function atLeast(worths, entry, worth) {
  worths.set(entry, Math.max(worths.get(entry) ?? 0, worth));
}

/** The words of a text for the index, each with how well it fits: names as they are, and their parts. */
function indexed(text) {
  const words = new Map();
  for (const name of text.match(NAME) ?? []) {
    atLeast(words, name.toLowerCase(), FIT.whole);
    atLeast(words, bareName(name), FIT.stem);
    for (const part of partsOf(name)) atLeast(words, part, FIT.part);
  }
  words.delete("");
  return words;
}

/** Lower case, and one space where there are several: a text found in a terminal has its own line breaks. */
function fold(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean).join(" ");
}

/** A name in lower case without the underscores around it. */
function bareName(name) {
  return name.toLowerCase().replace(/^_+|_+$/g, "");
}

/** The words that a name is made of: capture_scalar_outputs, BackendCompilerFailed. */
function partsOf(name) {
  const parts = name.replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1_");
  return parts.toLowerCase().split("_").filter(Boolean);
}

/** A word without its ending: compile, compiled and compiles have one stem. */
function stemOf(word) {
  const stem = word.replace(/(?:ations?|ions?|ings?|ed|es|s|e)$/, "");
  return stem.length >= 4 ? stem : word;
}

/** Whether two words differ in their endings only: different and differing. */
function areKin(one, other) {
  const common = Math.max(one.length, other.length) - 4;
  return common >= 5 && one.length > common && other.length > common && one.startsWith(other.slice(0, common));
}

// The search

/** The id that a text names: 170, gb170, GB0170, or the link that torch prints. */
export function idOf(text) {
  const found = /^(?:.*\/)?(?:gb)?(\d{1,6})(?:\.html\W*)?$/i.exec(text.trim());
  return found ? `gb${found[1].padStart(4, "0")}` : null;
}

/**
 * Find a text among those entries that `passes` lets through; best first.
 *
 * `whole` of the entries have all words that count, and come first. If there is none, `most` of `counted` words is what
 * the best have. Each of `words` has the spellings under which it was found; `respelt` are those that only a small change made
 * findable, with what they became.
 */
export function search(index, text, passes = () => true) {
  const candidates = index.entries.filter(passes);
  const sought = bare(text, index);
  const named = index.entries.find((entry) => entry.key === idOf(sought));
  if (named) return found([named].filter(passes), { words: [{ word: named.key, spellings: [named.key] }] });
  const title = fold(sought);
  const words = wordsIn(sought, index);
  if (!words.length) return found(candidates.filter((entry) => entry.titles.some((one) => one.includes(title))));
  const code = codeIn(sought);
  const counted = words.filter((one) => one.counts).length;
  const all = candidates.map((entry) => rate(entry, words, code, title));
  const most = all.reduce((best, one) => Math.max(best, one.count), 0);
  const rated = all.filter((one) => one.isWhole || (one.score > 0 && one.count >= most / 2));
  rated.sort((one, other) => other.isWhole - one.isWhole || other.score - one.score || one.entry.position - other.entry.position);
  return found(
    rated.map((one) => one.entry),
    {
      words,
      whole: rated.filter((one) => one.isWhole).length,
      respelt: words.filter((one) => one.respelt).map(({ word, spellings }) => ({ word, as: spellings })),
      most,
      counted,
    },
  );
}

function found(entries, more = {}) {
  return { entries, words: [], whole: entries.length, respelt: [], most: 0, counted: 0, ...more };
}

/** A line of a message as the registry has it. */
function bare(text, { before }) {
  let left = text;
  while (before?.test(left)) left = left.replace(before, "");
  return left.trim();
}

function rate(entry, words, code, title) {
  let score = 0;
  let count = 0;
  for (const { places, rarity, counts } of words) {
    const worth = places.get(entry) ?? 0;
    score += worth * rarity;
    if (counts && worth >= ENOUGH) count += 1;
  }
  const counted = words.filter((one) => one.counts).length;
  const inCode = entry.titles.some((one) => code.some((chunk) => one.includes(chunk)));
  score *= (count / counted || 0.5 / counted) * MET[entry.rank ?? 0] * (inCode ? IN_CODE : 1);
  if (entry.titles.includes(title)) score += EXACT;
  return { entry, score, count, isWhole: score > EXACT || inCode || count === counted };
}

/** Code as it was typed: `.item()`, `out=`, `torch.cond`. What stands before the last dot may be a variable of the reader's. */
function codeIn(text) {
  const chunks = text.toLowerCase().split(/\s+/).filter((chunk) => /[\p{L}\p{N}_]/u.test(chunk) && /[.=([]/.test(chunk));
  return chunks.flatMap((chunk) => [chunk, chunk.slice(Math.max(0, chunk.replace(/\(.*/, "").lastIndexOf(".")))]);
}

/** The words of a text, each once: {word, spellings, places: Map(entry -> worth), rarity, counts, respelt}. */
function wordsIn(text, index) {
  const all = [...new Set(text.match(NAME) ?? [])];
  const long = all.filter((name) => name.length > 1); // x and y are anybody's variables
  const words = (long.length ? long : all).flatMap((name) => lookUpName(name, index));
  const asCode = new Set(text.toLowerCase().split(/\s+/).map((chunk) => /^\W*(\w+)[=(]\W*$/.exec(chunk)?.[1]));
  const isLittle = ({ word }) => LITTLE.has(word) && !asCode.has(word);
  const anyTells = words.some((one) => !isLittle(one));
  for (const one of words) {
    one.counts = !anyTells || !isLittle(one);
    const usual = [...one.places.values()].reduce((sum, worth) => sum + worth / FIELDS.title, 0);
    one.rarity = Math.log(1 + index.entries.length / (1 + usual)) * (one.counts ? 1 : LITTLE_COUNTS);
  }
  return words;
}

function lookUpName(name, index) {
  const whole = lookUp(index.places.has(name.toLowerCase()) ? name.toLowerCase() : bareName(name), index);
  const parts = partsOf(name);
  if (whole.places.size) return [whole];
  return parts.length > 1 ? parts.map((part) => lookUp(part, index)) : [lookUpTypo(whole, index)];
}

function lookUp(word, { places, stems }) {
  const one = { word, spellings: [word], places: new Map(), respelt: false };
  const take = (other, fit) => places.get(other).forEach((worth, entry) => atLeast(one.places, entry, worth * fit));
  for (const other of stems.get(stemOf(word)) ?? []) {
    take(other, other === word ? FIT.whole : FIT.stem);
    one.spellings.push(other);
  }
  for (const other of places.keys()) {
    const at = other.indexOf(word);
    if (at === 0) take(other, FIT.start);
    else if (at > 0 && word.length > 2) take(other, FIT.inside);
    else if (areKin(word, other)) take(other, FIT.kin);
  }
  return one;
}

/** What was meant by a word that nothing has: words, or beginnings of words, that are one change away. */
function lookUpTypo(one, { places }) {
  const { word } = one;
  const meant = new Set();
  for (const [other, entries] of places) {
    const spelling = [other, other.slice(0, word.length), other.slice(0, word.length + 1)].find((part) => isOneEdit(word, part));
    if (!spelling) continue;
    meant.add(spelling);
    const fit = FIT.typo * (spelling === other ? 1 : FIT.start);
    entries.forEach((worth, entry) => atLeast(one.places, entry, worth * fit));
  }
  return meant.size ? { ...one, spellings: [...meant], respelt: true } : one;
}
