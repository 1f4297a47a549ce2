// Which breaks a text finds, best first. Pure: no page, no network.

import { nearWords, vocabularyOf } from "./typos.js";

const FIELDS = ["old", "lead", "text", "hints", "program"];

// What a word costs, by the place where it was found. Between two breaks, the worst word decides first.
const COST = { id: 0, titleStart: 1, titleInside: 2, oldStart: 3, oldInside: 4, lead: 5, text: 6, hints: 7, program: 8 };

// How the whole text fits a title; what does not fit is ranked by its words.
const FIT = { id: 0, exact: 1, prefix: 2, wordStart: 3, inside: 4, scattered: 5, old: 6, words: 9 };

/**
 * What search works on: the entries of breaks.json, and each one's text in lower case. `before` is an expression for
 * what torch puts before the words of a message: nobody who searches means it.
 */
export function buildIndex(breaks, before) {
  const entries = breaks.map((entry, position) => {
    const lower = { title: fold(entry.title ?? "") };
    for (const field of FIELDS) lower[field] = fold([entry[field] ?? []].flat().join("\n"));
    const id = entry.id.toLowerCase();
    const all = [id, lower.title, ...FIELDS.map((field) => lower[field])].join("\n");
    return { ...entry, position, lower, key: id, all };
  });
  return { entries, before: before ? new RegExp(before, "i") : null, vocabulary: null };
}

/** Lower case, and one space where there are several: a text found in a terminal has its own line breaks. */
export function fold(text) {
  return text.toLowerCase().replace(/[^\S\n]+/g, " ");
}

/** A line of a message as the registry has it. */
function bare(text, { before }) {
  let left = text;
  while (before?.test(left)) left = left.replace(before, "");
  return left;
}

/** The words of a text, each with the spellings that count as that word. */
export function wordsOf(text) {
  return [...new Set(fold(text).split(/\s+/).filter(Boolean))].map((word) => ({ word, id: idOf(word), spellings: [word] }));
}

/** The id that a word names: 170, gb170, GB0170, or the link that torch prints. */
export function idOf(word) {
  const found = /^(?:.*\/)?(?:gb)?(\d{1,6})(?:\.html\W*)?$/.exec(word);
  return found ? `gb${found[1].padStart(4, "0")}` : null;
}

/**
 * Find a text among those entries that `passes` lets through; best first.
 * `respelt` names the words that only a small change made findable, and what they became.
 */
export function search(index, text, passes = () => true) {
  const sought = bare(text, index);
  const words = wordsOf(sought);
  const candidates = index.entries.filter(passes);
  if (!words.length) return { entries: candidates, words, respelt: [] };
  const found = ranked(candidates, fold(sought).split(/\s+/).filter(Boolean).join(" "), words);
  if (found.length || index.entries.some((entry) => fits(entry, words))) return { entries: found, words, respelt: [] };
  return withTypos(index, candidates, words);
}

/** Every word that occurs; made when it is first wanted, or before, when nobody waits. */
export function vocabulary(index) {
  index.vocabulary ??= vocabularyOf(index.entries.map((entry) => entry.all));
  return index.vocabulary;
}

function withTypos(index, candidates, words) {
  const near = words.map((one) => (one.id ? one : { ...one, spellings: [one.word, ...nearWords(one.word, vocabulary(index))] }));
  const phrase = near.map((one) => one.word).join(" ");
  const entries = ranked(candidates, phrase, near);
  const occurs = (spelling) => entries.some((entry) => entry.all.includes(spelling));
  const respelt = near
    .filter((one) => !one.id && !occurs(one.word))
    .map(({ word, spellings }) => ({ word, as: spellings.filter(occurs) }))
    .filter(({ as }) => as.length);
  return { entries, words: near, respelt };
}

function fits(entry, words) {
  return words.every((one) => one.id === entry.key || one.spellings.some((spelling) => entry.all.includes(spelling)));
}

function ranked(candidates, phrase, words) {
  const found = candidates.filter((entry) => fits(entry, words));
  const scores = new Map(found.map((entry) => [entry, score(entry, phrase, words)]));
  return found.sort((one, other) => scores.get(one) - scores.get(other) || one.title.length - other.title.length || one.position - other.position);
}

function score(entry, phrase, words) {
  let worst = 0;
  let sum = 0;
  for (const one of words) {
    const cost = one.spellings.reduce((least, spelling) => Math.min(least, costOf(entry, spelling, one.id)), COST.program);
    worst = Math.max(worst, cost);
    sum += cost;
  }
  const fit = fitOf(entry, phrase, words, worst);
  const scattered = entry.all.includes(phrase) ? 0 : 1;
  return ((fit * 10 + worst) * 1000 + Math.min(sum, 999)) * 2 + scattered;
}

function fitOf({ key, lower }, phrase, words, worst) {
  if (words.length === 1 && words[0].id === key) return FIT.id;
  const { title, old } = lower;
  if (title === phrase) return FIT.exact;
  if (title.startsWith(phrase)) return FIT.prefix;
  if (startsAWord(title, phrase)) return FIT.wordStart;
  if (title.includes(phrase)) return FIT.inside;
  if (worst <= COST.titleInside) return FIT.scattered;
  if (old.split("\n").includes(phrase)) return FIT.old;
  if (startsAWord(old, phrase)) return FIT.old + 1;
  return old.includes(phrase) ? FIT.old + 2 : FIT.words;
}

function costOf(entry, word, id) {
  const { lower, key } = entry;
  if (id === key || key.includes(word)) return COST.id;
  if (lower.title.includes(word)) return startsAWord(lower.title, word) ? COST.titleStart : COST.titleInside;
  if (lower.old.includes(word)) return startsAWord(lower.old, word) ? COST.oldStart : COST.oldInside;
  if (lower.lead.includes(word)) return COST.lead;
  if (lower.text.includes(word)) return COST.text;
  return lower.hints.includes(word) ? COST.hints : COST.program;
}

/** Whether `part` stands in `text` where a word starts: not after a letter or digit. */
export function startsAWord(text, part) {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return true;
  }
  return false;
}
