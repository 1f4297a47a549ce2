// Joined by generate_site.py from templates/scripts: change the modules there.
(() => {
"use strict";
const modules = {};

modules["filters"] = (() => {
// The state of the home page as an address, and what its filters let through. Pure.
//
// ?q=words&category=a,b&since=ge:2.13.0: facets are ANDed, a comma means OR. `any` stands for "has a value", `none` for
// "has none". Facets of releases take ge:, le: and eq:.

const COMPARE = { ge: (one, other) => one >= other, le: (one, other) => one <= other, eq: (one, other) => one === other };
const SIGNS = { ge: "≥ ", le: "≤ ", eq: "= " };

/** Read an address's query: {text, pairs}, pairs being [facet, value] in order. */
function readState(query) {
  const pairs = [...new URLSearchParams(query)].filter(([, value]) => value !== "");
  return {
    text: pairs.find(([name]) => name === "q")?.[1] ?? "",
    pairs: pairs.filter(([name]) => !["q", "torch"].includes(name)), // the reader's torch is no filter
  };
}

/** The query of an address for a state; "" for the plain list. */
function writeState({ text, pairs }) {
  const query = new URLSearchParams([...(text.trim() ? [["q", text]] : []), ...pairs]).toString();
  return query && `?${query.replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

/** Facets of breaks.json by name, with the place of each value. */
function facetTable(facets) {
  return new Map(
    facets.map((facet) => {
      const values = facet.values ?? [];
      return [facet.name, { ...facet, values, places: new Map(values.map((value, place) => [value, place])) }];
    }),
  );
}

/** One [facet, value] as a filter: {pair, known, words, passes}. One that is not known says so in its words. */
function filterOf(pair, table) {
  const [name, value] = pair;
  const facet = table.get(name);
  if (!facet) return { pair, known: false, words: `${name}: no such filter, ignored`, passes: () => true };
  const alternatives = (facet.places.has(value) ? [value] : value.split(",")).map((one) => alternative(one.trim(), facet));
  return {
    pair,
    known: alternatives.every((one) => one.known),
    words: `${facet.words}: ${alternatives.map((one) => one.words).join(" or ")}`,
    passes: (entry) => alternatives.some((one) => one.passes(entry.facets[name])),
  };
}

function alternative(value, facet) {
  const named = (words, passes) => ({ known: true, words, passes });
  if (facet.places.has(value)) {
    const place = facet.places.get(value);
    return named(facet.titles?.[place] ?? value, (mask) => hasBit(mask, place));
  }
  if (value === "any") return named("any", (mask) => mask !== undefined);
  if (value === "none") return named("none", (mask) => mask === undefined);
  const [, sign, release] = /^(ge|le|eq):(.*)$/.exec(value) ?? [];
  if (facet.ordered && facet.places.has(release)) {
    const limit = facet.places.get(release);
    const places = [...facet.places.values()].filter((place) => COMPARE[sign](place, limit));
    return named(`${SIGNS[sign]}${release}`, (mask) => places.some((place) => hasBit(mask, place)));
  }
  return { known: false, words: `${value} (no such value)`, passes: () => false };
}

/** Whether a hexadecimal mask has the bit of a place. */
function hasBit(mask, place) {
  const digit = mask?.[mask.length - 1 - (place >> 2)];
  return digit !== undefined && ((parseInt(digit, 16) >> (place & 3)) & 1) === 1;
}

/** The values that an entry has of a facet. */
function valuesOf(entry, facet) {
  return facet.values.filter((_, place) => hasBit(entry.facets[facet.name], place));
}

/** All filters at once. */
function passesAll(filters) {
  return (entry) => filters.every((filter) => filter.passes(entry));
}

return { readState, writeState, facetTable, filterOf, hasBit, valuesOf, passesAll };
})();

modules["typos"] = (() => {
// Small mistakes in a word. Pure.

const SHORTEST = 5; // letters: in a shorter word, one change makes another word

/** Whether one letter added, left out or changed, or two neighbours swapped, makes one word of the other. */
function isOneEdit(one, other) {
  if (one.length < SHORTEST || one === other || Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  if (one.length < other.length) return one.slice(at) === other.slice(at + 1);
  if (one.length > other.length) return one.slice(at + 1) === other.slice(at);
  const swapped = one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
  return swapped || one.slice(at + 1) === other.slice(at + 1);
}

return { isOneEdit };
})();

modules["search"] = (() => {
// Which breaks a text finds, best first. Pure: no page, no network. tests/search_queries.yml measures it.

const { isOneEdit } = modules["typos"];

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
function buildIndex(breaks, before, kindOf = () => "") {
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
function idOf(text) {
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
function search(index, text, passes = () => true) {
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

return { buildIndex, idOf, search };
})();

modules["advice"] = (() => {
// What to try when nothing was found. Pure.

const { passesAll } = modules["filters"];
const { search } = modules["search"];

/** Up to two ways out, as {drop: filters to leave out} or {text: other words}, each with the count it would give. */
function advise(index, text, filters) {
  const count = (words, kept) => search(index, words, passesAll(kept)).whole;
  const ways = [];
  const single = filters.map((one) => ({ drop: [one], count: count(text, filters.filter((other) => other !== one)) }));
  single.sort((one, other) => other.count - one.count);
  if (single[0]?.count) ways.push(single[0]);
  else if (filters.length > 1) ways.push({ drop: filters, count: count(text, []) });
  if (text.trim() && filters.length) ways.push({ text: "", count: count("", filters) });
  return ways.filter((way) => way.count);
}

return { advise };
})();

modules["controls"] = (() => {
// The filter controls of the home page, and the [facet, value] pairs that they stand for.

const PLAIN = ["category", "status", "live", "fix", "note", "device"];

/** Set the controls to the pairs that they can express; return the others, which are shown as chips. */
function showPairs(form, pairs) {
  const { elements } = form;
  for (const name of [...PLAIN, "since"]) elements[name].value = "";
  elements["since-sign"].value = "ge";
  return pairs.filter((pair) => !showPair(elements, pair));
}

function showPair(elements, [name, value]) {
  if (name !== "since") return PLAIN.includes(name) && choose(elements[name], value);
  const [, sign = "eq", release] = /^(?:(ge|le|eq):)?(.*)$/s.exec(value);
  if (!choose(elements.since, release)) return false;
  elements["since-sign"].value = sign;
  return true;
}

/** Choose a value that a control has, unless it stands on another already. */
function choose(control, value) {
  if (control.value || ![...control.options].some((option) => option.value === value)) return false;
  control.value = value;
  return true;
}

/** The pairs that the controls stand for. */
function readPairs(form) {
  const { elements } = form;
  const pairs = PLAIN.map((name) => [name, elements[name].value]);
  if (elements.since.value) pairs.push(["since", `${elements["since-sign"].value}:${elements.since.value}`]);
  return pairs.filter(([, value]) => value);
}

return { showPairs, readPairs };
})();

modules["findings-markdown"] = (() => {
// Findings as Markdown, for an issue or a chat. Pure.

/** The whole report; `site` is the address of the registry's home page. */
function markdownOf({ breaks, others, unknown, shared }, site) {
  const parts = [
    ...breaks.map((found) => breakPart(found, site)),
    ...others.map((found) => otherPart(found, site)),
    ...unknown.map(({ text, count }) => `### A message that the registry does not know${times(count)}\n\n${fence(text)}`),
  ];
  if (shared) parts.push("torch prints this line for many breaks; the lines above it would tell which.");
  return `${parts.join("\n\n")}\n`;
}

/** What to say to somebody whose torch is old, as its words tell. */
function oldWords(gone, wordedBy) {
  if (gone) return `torch ${gone} and later have no such break: a newer torch may be all that you need.`;
  return wordedBy && `These are words of torch ${wordedBy}. A newer torch prints others.`;
}

function breakPart({ steps, count, places, source, gone, wordedBy, advice }, site) {
  const names = steps.flatMap(({ candidates }) => candidates.slice(0, 1)).map(({ gbId, title, page }) => {
    return page ? `[${gbId}](${new URL(page, site).href}) ${escaped(title)}` : gbId;
  });
  const lines = [`### ${names.join(" → ") || "An old graph break"}${times(count)}`];
  if (places.length) lines.push(`At \`${places[0].place}\`${source ? `:\n\n${fence(source, "python")}` : ""}`);
  const old = oldWords(gone, wordedBy);
  if (old) lines.push(old);
  if (advice?.why) lines.push(escaped(advice.why));
  if (advice?.misfit) lines.push(advice.misfit);
  for (const { text } of advice?.counsels ?? []) lines.push(`Try: ${text}`);
  const [fix] = advice?.fixes ?? [];
  if (fix) lines.push(`Fix (held on torch ${fix.release}): ${fix.when}\n\n${fence(fix.code, "python")}`);
  const text = steps.map((step) => step.text).join("\n\n");
  lines.push(`<details><summary>The message</summary>\n\n${fence(text)}\n\n</details>`);
  return lines.join("\n\n");
}

function otherPart({ title, short, wayOut, page, text, count }, site) {
  const link = new URL(page, site).href;
  return `### Not a graph break: [${title}](${link})${times(count)}\n\nIt is this: ${short}\n\nTry: ${wayOut}\n\n${fence(text)}`;
}

function times(count) {
  return count > 1 ? ` (${count}×)` : "";
}

/** A code block that no line of the text can end. */
function fence(text, language = "") {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${text}\n${ticks}`;
}

function escaped(text) {
  return text.replace(/[\\*_<>[\]#]/g, "\\$&");
}

return { markdownOf, oldWords };
})();

modules["loading"] = (() => {
// Where the site lies, and what is loaded from it. As scripts: a page that was opened from disk may not fetch files.

const root = new URL("../../", document.currentScript.src);

const loading = new Map();

/** What a script under assets/ holds: load("data/breaks"). It is loaded once; after a failure the next call tries again. */
function load(name) {
  if (!loading.has(name)) {
    loading.set(name, request(name));
    loading.get(name).catch(() => loading.delete(name));
  }
  return loading.get(name);
}

function request(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(`assets/${name}.js`, root);
    script.addEventListener("load", () => resolve(self.graphBreaks[name]));
    script.addEventListener("error", () => reject(new Error(`${script.src} could not be loaded`)));
    document.head.append(script);
  });
}

return { root, load };
})();

modules["my-torch"] = (() => {
// The torch that the reader uses: in the address, and kept for other pages. Without a choice it is the newest that we know.

const KEPT = "graph-breaks-torch";
const controls = [...document.querySelectorAll(".my-torch")];
const releases = controls[0]?.dataset.releases.split(" ") ?? []; // newest first

/** Of `known`, newest first, the reader's: what a link to this page asks for, or else an earlier page, or an earlier visit. */
function readersTorch(known) {
  const linked = linkedTorch(known);
  if (linked) keep("sessionStorage", linked); // somebody else's choice: not for the next visit
  return linked ?? matching(known, kept("sessionStorage")) ?? matching(known, kept("localStorage")) ?? known[0] ?? "";
}

function linkedTorch(known) {
  return matching(known, history.state?.ownTorch ? null : new URLSearchParams(location.search).get("torch"));
}

/** The one that "2.9.1", "2.9" or another 2.9 means. */
function matching(known, asked) {
  const minor = asked?.split(".").slice(0, 2).join(".");
  return known.find((one) => one === asked) ?? known.find((one) => one.startsWith(`${minor}.`));
}

/** The release that this page shows, as [name, value] pairs for its address; the newest is not named. */
function inAddress() {
  const { torch } = document.documentElement.dataset;
  return torch && torch !== releases[0] ? [["torch", torch]] : [];
}

/** Turn this page to the reader's release, and again when another is chosen. */
function followTorch() {
  if (!releases.length) return;
  for (const control of controls) {
    control.querySelector("b").replaceWith(selectOf());
    control.append(noticeOf());
  }
  for (const link of document.querySelectorAll('a[href^="?torch="]')) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault(); // the page stays where it is
      choose(link.dataset.release);
    });
  }
  turnToReaders();
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView(); // it may have been hidden
  addEventListener("pageshow", (event) => event.persisted && turnToReaders());
}

function selectOf() {
  const select = document.createElement("select");
  select.autocomplete = "off"; // else Back sets it to what it was
  select.append(...releases.map((torch, at) => new Option(at ? torch : `${torch} (newest)`, torch)));
  select.addEventListener("change", () => choose(select.value));
  return select;
}

/** Says why the page does not show the newest release, and leads back to it. */
function noticeOf() {
  const [words, reset] = ["span", "button"].map((name) => document.createElement(name));
  Object.assign(reset, { type: "button", textContent: "Show the newest" });
  reset.addEventListener("click", () => {
    choose(releases[0]);
    reset.closest(".my-torch").querySelector("select").focus();
  });
  const notice = document.createElement("span");
  notice.className = "my-torch-why";
  notice.append(words, " ", reset);
  return notice;
}

/** The newest is what everybody sees who chose nothing, so it is not kept: a later release takes its place. */
function choose(torch) {
  for (const storage of ["sessionStorage", "localStorage"]) keep(storage, torch === releases[0] ? null : torch);
  turnTo(torch);
}

function turnToReaders() {
  const linked = linkedTorch(releases);
  const torch = readersTorch(releases);
  turnTo(torch, linked ? `This address asks for torch ${torch}.` : `You see torch ${torch}, chosen earlier.`);
}

/** `why` is said if it is not the newest; who just chose it knows why. */
function turnTo(torch, why = "") {
  document.documentElement.dataset.torch = torch;
  for (const control of controls) {
    const notice = control.querySelector(".my-torch-why");
    notice.hidden = !why || torch === releases[0];
    notice.firstChild.textContent = why;
  }
  nameInAddress();
  for (const control of controls) control.querySelector("select").value = torch;
  for (const one of document.querySelectorAll("[data-torch]:not(html)")) one.hidden = !one.dataset.torch.split(" ").includes(torch);
  for (const one of document.querySelectorAll("[data-anchor]")) {
    if (one.closest("[hidden]")) one.removeAttribute("id");
    else one.id = one.dataset.anchor;
  }
  for (const one of document.querySelectorAll("[data-release]")) {
    if (one.dataset.release === torch) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
  document.dispatchEvent(new Event("torch"));
}

/** So that the address can be sent to somebody. It is marked as ours: Back must not take it for a link to follow. */
function nameInAddress() {
  const asked = new URLSearchParams(location.search);
  if ((asked.get("torch") ?? "") === (inAddress()[0]?.[1] ?? "")) return;
  const query = String(new URLSearchParams([...[...asked].filter(([name]) => name !== "torch"), ...inAddress()]));
  const address = location.pathname + (query && `?${query.replaceAll("%3A", ":").replaceAll("%2C", ",")}`) + location.hash;
  history.replaceState({ ...history.state, ownTorch: true }, "", address);
}

function kept(storage) {
  try {
    return window[storage].getItem(KEPT) ?? "";
  } catch {
    return ""; // the browser keeps nothing for this page
  }
}

function keep(storage, torch) {
  try {
    if (torch) window[storage].setItem(KEPT, torch);
    else window[storage].removeItem(KEPT);
  } catch {
    // the address has it
  }
}

return { readersTorch, inAddress, followTorch };
})();

modules["findings"] = (() => {
// The breaks in a text: find them (in a worker), and show them. Used by the paste page and by the search box.

const { markdownOf, oldWords } = modules["findings-markdown"];
const { load, root } = modules["loading"];
const { readersTorch } = modules["my-torch"];

let reading;

/** Read a text; the registry's wordings are loaded on the first call. Rejects when they can't be. */
async function findBreaks(text) {
  reading ??= startReading();
  reading.catch(() => (reading = undefined)); // the next attempt may find the network again
  const { read, releases } = await reading;
  return read(text, readersTorch(releases));
}

async function startReading() {
  const [makeReader, wordings, answers] = await Promise.all(["js/log-reader", "data/wordings", "data/answers"].map(load));
  const known = { wordings, answers };
  const { releases } = wordings;
  try {
    return { read: readInWorker(makeReader, known), releases };
  } catch {
    return { read: readHere(makeReader, known), releases }; // no workers
  }
}

function readHere(makeReader, known) {
  const read = makeReader().readerWith(known);
  return async (text, torch) => read(text, torch);
}

/** Read off the page's thread, so that ten megabytes don't hold up typing. */
function readInWorker(makeReader, known) {
  const waiting = new Map(); // number of the request -> its text, and what to do with the answer
  let requests = 0;
  let read = (text, torch) =>
    new Promise((resolve, reject) => {
      const request = ++requests;
      waiting.set(request, { text, torch, resolve, reject });
      worker.postMessage({ request, text, torch });
    });
  const script = new Blob([`(${makeReader})().answerRequests(self);`], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(script));
  worker.addEventListener("message", ({ data: { request, report, error } }) => {
    const { resolve, reject } = waiting.get(request);
    waiting.delete(request);
    if (error) reject(new Error(error));
    else resolve(report);
  });
  worker.addEventListener("error", () => {
    read = readHere(makeReader, known); // it can't start: what was asked of it is read here, and so is all that follows
    for (const { text, torch, resolve } of waiting.values()) resolve(read(text, torch));
    waiting.clear();
  });
  worker.postMessage({ known });
  return (text, torch) => read(text, torch);
}

// --- shown ----------------------------------------------------------------------------------------------------------

const PLACES = 5;
const AT_ONCE = 50;
const SHOWN_TEXT = 20_000;
const HOW = { link: "its link", type: "its title", wording: "its wording", form: "its words", none: "nothing we know" };
const SHARED = "torch prints this line for many breaks. Paste the lines above it, too.";

/** One sentence on what was found, for a status line. */
function describeFindings(report) {
  const { breaks, others, unknown, messages, shared, lines } = report;
  const read = `${counted(lines, "line")} read`;
  if (shared) return `${SHARED} ${read}.`;
  if (!messages) return `No graph break found; ${read}.`;
  const parts = [];
  if (breaks.length) parts.push(counted(breaks.length, "graph break"));
  if (others.length) parts.push(`${counted(others.length, "message")} that ${others.length === 1 ? "is" : "are"} not a graph break`);
  if (unknown.length) parts.push(`${counted(unknown.length, "message")} that we do not recognise`);
  return `${listed(parts)} found, in ${counted(messages, "message")}; ${read}.`;
}

/** Put the findings into `container`, in place of what is there. */
function renderFindings(container, report) {
  const parts = [];
  if (report.breaks.length) {
    parts.push(element("h2", {}, "Breaks in this text"), pagedList("found", report.breaks, breakItem));
  }
  if (report.others.length) {
    parts.push(element("h2", {}, "Not graph breaks"), pagedList("found", report.others, otherItem));
  }
  if (report.unknown.length) {
    parts.push(
      element("h2", {}, "Messages that we do not recognise"),
      element("p", {}, "Dynamo wrote these, but no wording of any release fits: they may be newer than the registry."),
      pagedList("found", report.unknown, unknownItem),
    );
  }
  if (parts.length) parts.unshift(copyButton(report));
  container.replaceChildren(...(parts.length ? parts : advice(report)));
}

function breakItem({ steps, count, line, places, source, gone, wordedBy, advice: known }) {
  const shown = steps.map((step, at) => stepPart(step, roleOf(at, steps.length)));
  const advised = steps.length > 1 && "Fix the cause, and what it surfaced as goes with it.";
  const note = advised && element("p", { className: "found-note" }, advised);
  const old = oldWords(gone, wordedBy);
  const newer = old && element("p", { className: "found-try" }, old);
  const ownLine = source && element("pre", { className: "found-source", tabIndex: 0 }, source);
  const head = [countPart(count, line), ...shown, note, newer, placesPart(places), ownLine];
  return element("li", {}, ...head, ...(known ? adviceParts(known) : []), messagePart(steps));
}

/** What it means, and the first way out that fits. */
function adviceParts({ why, misfit, counsels, fixes: [fix], isolated: [contained], noFix }) {
  const parts = [why && element("p", { className: "found-why" }, ...ticked(why))];
  if (misfit) parts.push(element("p", {}, ...ticked(misfit)));
  if (fix) {
    const held = element("span", { className: "small" }, ` (the registry's program; held on torch ${fix.release})`);
    parts.push(element("p", { className: "found-try" }, element("strong", {}, "Fix "), ...ticked(fix.when), held), codePart(fix.code));
  } else if (noFix && !misfit) {
    parts.push(element("p", {}, "No fix is known: ", ...ticked(noFix)));
  }
  for (const { text } of counsels) parts.push(element("p", { className: "found-try" }, element("strong", {}, "Try "), ...ticked(text)));
  if (!fix && !counsels.length && contained) {
    parts.push(element("p", {}, element("strong", {}, "If you can't change it "), ...ticked(contained.when)), codePart(contained.code));
  }
  return parts;
}

function codePart(code) {
  return element("pre", { className: "found-code", tabIndex: 0 }, code);
}

/** A message of torch's that is no graph break. */
function otherItem({ title, short, wayOut, page, text, count, line, places }) {
  const link = element("a", { href: new URL(page, root).href }, ...ticked(title));
  const what = element("p", {}, "This is not a graph break: ", ...ticked(short));
  const way = element("p", { className: "found-try" }, element("strong", {}, "Try "), ...ticked(wayOut));
  return element("li", {}, countPart(count, line), element("h3", {}, link), what, way, placesPart(places), textPart(text));
}

function copyButton(report) {
  const made = button("Copy as Markdown", async () => {
    await navigator.clipboard.writeText(markdownOf(report, document.documentElement.dataset.site));
    made.textContent = "Copied";
    setTimeout(() => (made.textContent = "Copy as Markdown"), 2_000);
  });
  return made;
}

/** Text with `backticks` as elements. */
function ticked(text) {
  return text.split(/`([^`]+)`/).map((piece, at) => (at % 2 ? element("code", {}, piece) : piece));
}

function unknownItem({ text, count, line, places }) {
  return element("li", {}, countPart(count, line), textPart(text), placesPart(places));
}

function roleOf(at, steps) {
  if (steps === 1) return "";
  return at === steps - 1 ? "surfaced as" : "cause";
}

function countPart(count, line) {
  const times = count === 1 ? "once" : `${number(count)} times`;
  const first = count === 1 ? "on" : "first on";
  return element("p", { className: "found-count" }, element("strong", {}, times), ` ${first} line ${number(line)}`);
}

function stepPart({ candidates, hows, text }, role) {
  const label = role && element("p", { className: "found-role" }, role);
  if (!candidates.length) return element("div", { className: "found-step" }, label, textPart(text));
  const named = candidates.map(candidatePart);
  const facts = element("p", { className: "found-facts" }, recognised(candidates, hows));
  return element("div", { className: "found-step" }, label, ...named, facts);
}

function candidatePart({ gbId, title, status, statusName, torch, page }) {
  const id = element("span", { className: "found-id" }, gbId);
  if (!page) return element("h3", {}, id, " This site has no page for it: it may be newer than the registry.");
  const name = element("span", { className: "verbatim" }, title);
  const link = element("a", { href: new URL(page, root).href }, id, " ", name);
  const badge = element("span", { className: `badge ${status}` }, `${statusName} in torch ${torch}`);
  return element("h3", {}, link, " ", badge);
}

function recognised(candidates, hows) {
  const ways = Object.entries(hows);
  const name = ([how, count]) => (ways.length > 1 ? `${HOW[how]} (${number(count)})` : HOW[how]);
  const said = ways.map(name).join(" and ");
  if (candidates.length === 1) return `Recognised by ${said}.`;
  return `One of these ${candidates.length}, likeliest first: ${said} fits them all.`;
}

function placesPart(places) {
  if (!places.length) return null;
  const list = element("ul", { className: "found-places" }, ...places.slice(0, PLACES).map(placeItem));
  const rest = places.slice(PLACES);
  if (!rest.length) return list;
  const more = element("details", {}, element("summary", {}, `and ${number(rest.length)} more`));
  more.addEventListener("toggle", () => more.append(pagedList("found-places", rest, placeItem)), { once: true });
  return element("div", {}, list, more);
}

function placeItem({ place, count }) {
  return element("li", {}, element("code", {}, place), count > 1 ? ` ${number(count)} times` : "");
}

function messagePart(steps) {
  const text = steps.map((step) => step.text).join("\n\n");
  return element("details", {}, element("summary", {}, "The first message"), textPart(text));
}

/** A text in full; of a very long one the start, and the rest when asked for. */
function textPart(text) {
  const pre = element("pre", { className: "found-text", tabIndex: 0 }, text.slice(0, SHOWN_TEXT));
  if (text.length <= SHOWN_TEXT) return pre;
  const more = button(`Show the other ${number(text.length - SHOWN_TEXT)} characters`, () => {
    pre.textContent = text;
    more.remove();
  });
  return element("div", {}, pre, more);
}

/** A list that grows when asked to: a log may hold thousands of different messages. */
function pagedList(className, items, makeItem) {
  const list = element("ol", { className });
  let shown = 0;
  const grow = () => {
    const first = shown;
    list.append(...items.slice(first, first + AT_ONCE).map(makeItem));
    shown = list.children.length;
    more.hidden = shown === items.length;
    more.textContent = `Show ${number(Math.min(AT_ONCE, items.length - shown))} more of ${number(items.length)}`;
    if (first) list.children[first].querySelector("a, summary, pre")?.focus();
  };
  const more = button("", grow);
  grow();
  return element("div", {}, list, more);
}

function advice({ shared }) {
  const log = "TORCH_LOGS=graph_breaks python train.py 2> breaks.log";
  return [
    element("h2", {}, shared ? SHARED : "No graph break in this text"),
    element(
      "ul",
      {},
      element("li", {}, "Run once more with the log on, then paste what it writes: ", element("code", {}, log)),
      element("li", {}, "Or compile with ", element("code", {}, "fullgraph=True"), ": the first break then raises."),
      element("li", {}, "Paste the whole message: the line above “Explanation:” tells breaks apart."),
      element("li", {}, "You have only a word or two? ", element("a", { href: new URL("index.html", root).href }, "Search the registry"), "."),
    ),
  ];
}

function button(text, action) {
  const made = element("button", { type: "button", className: "found-more" }, text);
  made.addEventListener("click", action);
  return made;
}

function listed(parts) {
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0];
}

function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function number(count) {
  return count.toLocaleString("en-GB");
}

/** Text stays text: nothing that was pasted is ever read as HTML. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== "" && child !== false));
  return made;
}

return { findBreaks, describeFindings, renderFindings };
})();

modules["results"] = (() => {
// What a search shows: the rows of the page's own list, with the fix and the words that were found. Text from the data goes in as text, never as markup.

/** Make an element with classes and children; a string becomes text. */
function element(name, className = "", ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** A button that does one thing. */
function button(text, className, act) {
  const made = element("button", className, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/** The rows of the plain list by the key of their id, as the page has them. */
function rowsOf(list) {
  return new Map([...list.children].map((row) => [row.querySelector("a").textContent.toLowerCase(), row]));
}

/** Complete the row of an entry: how it is fixed, and the old title that was sought. */
function completeRow(row, entry, words) {
  if (entry.fix && !row.querySelector(".row-fix")) {
    row.querySelector(".row-lead").after(element("span", "row-fix", element("strong", "", "Fix: "), entry.fix.replaceAll("`", "")));
  }
  row.querySelector(".row-old")?.remove();
  const isIn = (title) => (one) => one.counts && one.spellings.some((spelling) => title.toLowerCase().includes(spelling));
  const fit = (title) => words.filter(isIn(title)).length;
  const old = (entry.old ?? []).find((title) => fit(title) > fit(entry.title ?? ""));
  if (old) row.querySelector(".row-lead").before(element("span", "row-old", `Old title: ${old}`));
  return row;
}

/** Mark words in the rows that are shown; a browser that can't mark without changing the page marks nothing. */
function markWords(rows, words) {
  if (!globalThis.CSS?.highlights) return;
  const spellings = [...new Set(words.filter((one) => one.counts ?? true).flatMap((one) => one.spellings))];
  CSS.highlights.set("found", new Highlight(...rows.flatMap((row) => rangesIn(row, spellings))));
}

function rangesIn(row, spellings) {
  const ranges = [];
  const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const lower = text.data.toLowerCase();
    if (lower.length !== text.data.length || text.parentElement.closest(".row-facts")) continue; // positions would not fit; facts are not searched
    for (const spelling of spellings) {
      for (let at = lower.indexOf(spelling); at >= 0; at = lower.indexOf(spelling, at + spelling.length)) {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + spelling.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}

/** A message that is no graph break: its title as a link, and what it is. */
function messageItem(entry) {
  const link = element("a", "", entry.title);
  link.href = `messages/${entry.key}.html`;
  return element("li", "", link, element("p", "", entry.lead.replaceAll("`", "")));
}

/** What to try when nothing was found: `take` is called with the way that the reader chose. */
function emptyAdvice({ text, pairs }, ways, take) {
  const quoted = text.trim() ? [" ", element("q", "", text.trim())] : [];
  const heading = element("p", "", "Nothing fits", ...quoted, pairs.length ? " with these filters." : ".");
  const list = element("ul");
  for (const way of ways) list.append(element("li", "", button(wayWords(way), "way", () => take(way)), ` ${way.count} found`));
  const kinds = element("a", "", "Look through the kinds of breaks");
  kinds.href = "categories.html";
  list.append(element("li", "", "Do you have the whole error, or a log? Paste it into the box."), element("li", "", kinds, "."));
  return element("div", "empty", heading, list);
}

function wayWords(way) {
  if (way.drop) return way.drop.length === 1 ? `Without “${way.drop[0].words}”` : "Without any filter";
  return "Without the words, with these filters";
}

return { element, button, rowsOf, completeRow, markWords, messageItem, emptyAdvice };
})();

modules["home"] = (() => {
// The home page: a search box and filters over the list of all breaks. The address holds their state.

const { advise } = modules["advice"];
const { readPairs, showPairs } = modules["controls"];
const { facetTable, filterOf, passesAll, readState, valuesOf, writeState } = modules["filters"];
const { findBreaks, renderFindings } = modules["findings"];
const { load } = modules["loading"];
const { inAddress } = modules["my-torch"];
const { button, completeRow, element, emptyAdvice, markWords, messageItem, rowsOf } = modules["results"];
const { buildIndex, idOf, search } = modules["search"];

const FIRST = 50;
const MESSAGES = 4; // of those that are no graph breaks
const SENTENCE = 4; // words: fewer are hardly a message
const LONG = 240; // characters: nobody types that much; it is a log

const form = document.querySelector("#find");
const box = form.elements.q;
const toggle = document.querySelector("#filters-toggle");
const count = document.querySelector("#count");
const clearFilters = document.querySelector("#clear-filters");
const chips = document.querySelector("#chips");
const results = document.querySelector("#results");
const otherSection = document.querySelector("#others");
const list = document.querySelector("ul.registry");
const met = document.querySelector("#met");
const showAllRows = button("", "show-all", showTheRest);
const heading = document.querySelector("#all");
const atRest = { count: count.textContent, heading: heading.textContent };
const rows = rowsOf(list);

let state = readState(location.search);
let showAll = false;
let others = []; // pairs that no control can show
let loaded = null;
let shown = Promise.resolve();
let writing = 0;
let turn = 0; // of the last change: an answer to an earlier one comes too late

// The data

async function loadIndex() {
  const data = await load("data/breaks");
  if (loaded) return loaded;
  const table = facetTable(data.facets);
  const kindOf = (entry) => data.kinds[valuesOf(entry, table.get("category"))[0]] ?? "";
  const breaks = data.breaks.filter(({ id }) => rows.has(id.toLowerCase())); // a page from a cache may be older than its data
  loaded = { table, index: buildIndex(breaks, data.before, kindOf), messages: buildIndex(data.messages, data.before), releases: data.releases };
  showStatuses(loaded);
  return loaded;
}

/** The status of each break in the reader's torch: in its row, and for the filter. */
function showStatuses({ table, index, releases }) {
  const at = Math.max(0, releases.indexOf(document.documentElement.dataset.torch));
  const facet = table.get("status");
  const counts = facet.values.map(() => 0);
  for (const entry of index.entries) {
    const place = Number(entry.statuses[at]);
    counts[place] += 1;
    entry.facets.status = (1 << place).toString(16);
    const shown = rows.get(entry.key).querySelector(".row-status");
    shown.className = `row-status status-${facet.values[place]}`;
    shown.textContent = facet.titles[place];
  }
  for (const option of form.elements.status.options) {
    const place = facet.places.get(option.value);
    if (place !== undefined) option.textContent = `${facet.titles[place]} (${counts[place]})`;
  }
}

async function followTorch() {
  try {
    if (loaded) showStatuses(loaded);
    else await loadIndex();
  } catch {
    count.textContent = "The statuses of your torch could not be loaded. These are of the newest.";
    return;
  }
  if (!results.querySelector(".findings-here")) show();
}

document.addEventListener("torch", followTorch);

function whenIdle(work) {
  if ("requestIdleCallback" in window) requestIdleCallback(work, { timeout: 3000 });
  else setTimeout(work, 500);
}

// From state to page

function isActive() {
  return Boolean(state.text.trim() || state.pairs.length);
}

function show() {
  shown = showNow();
  return shown;
}

async function showNow() {
  const mine = (turn += 1);
  if (!isActive()) return showPlainList();
  try {
    const data = loaded ?? (await loadIndex()); // once it is there, the answer comes within the keystroke
    if (mine === turn) showResults(data);
  } catch {
    if (mine === turn) showPlainList("The search could not load its data. This is the whole list.");
  }
}

function showPlainList(words = atRest.count) {
  showRows([...rows.values()], []);
  for (const added of list.querySelectorAll(".row-fix, .row-old")) added.remove();
  results.replaceChildren();
  chips.replaceChildren();
  count.textContent = words;
  showBesides(true);
}

function showResults({ index, messages, table }) {
  const filters = state.pairs.map((pair) => filterOf(pair, table));
  const asked = filters.some((filter) => table.has(filter.pair[0])) || state.text.trim();
  if (!asked) showPlainList();
  showChips(filters);
  if (!asked) return;
  const found = search(index, state.text, passesAll(filters));
  showBesides(false);
  count.textContent = countWords(found, index.entries.length);
  const shown = showAll ? found.entries : found.entries.slice(0, FIRST);
  showRows(shown.map((entry) => completeRow(rows.get(entry.key), entry, found.words)), found.words);
  if (shown.length < found.entries.length) {
    showAllRows.textContent = `Show all ${found.entries.length}`;
    list.after(showAllRows);
  }
  const besides = filters.length ? [] : otherMessages(search(messages, state.text));
  otherSection.replaceChildren(...besides);
  const fits = filters.length ? found.whole : found.entries.length; // without the filters, more may have all of the words
  results.replaceChildren(...(fits ? [] : [emptyAdvice(state, advise(index, state.text, filters), takeWay)]));
  if (!found.whole && !filters.length && state.text.trim().split(/\s+/).length >= SENTENCE) offerFindings(state.text);
}

/** What stands around the list at rest. */
function showBesides(isAtRest) {
  if (met) met.hidden = !isAtRest;
  heading.textContent = isAtRest ? atRest.heading : "Results";
}

function showRows(shown, words) {
  list.replaceChildren(...shown);
  list.hidden = !shown.length;
  showAllRows.remove();
  otherSection.replaceChildren();
  markWords(shown, words);
}

function countWords({ entries, whole, most, counted, respelt }, total) {
  const spelt = respelt.map(respeltWords);
  if (!whole && most) return [`No break has all of these words; these have ${most} of ${counted}`, ...spelt].join(", ");
  const more = entries.length - whole;
  return [`${whole} of ${total}`, ...spelt, ...(more ? [`${more} more have some of these words`] : [])].join(", ");
}

/** No break has all these words; with values filled in they may still be a message, and the paste box knows those. */
async function offerFindings(text) {
  const mine = turn;
  try {
    const report = await findBreaks(text);
    if (mine !== turn || !(report.breaks.length || report.others.length)) return;
    count.textContent = "Read as a message";
    showFindingsHere(report);
  } catch {
    // the advice stands
  }
}

/** In place of the list. */
function showFindingsHere(report) {
  const findings = element("div", "findings-here");
  results.replaceChildren(findings);
  renderFindings(findings, report);
  showRows([], []);
  showBesides(false);
}

/** Messages that are no graph breaks, found by words that they really have. */
function otherMessages({ entries, words, whole, respelt }) {
  if (!whole || !words.length || respelt.length) return [];
  const items = entries.slice(0, Math.min(whole, MESSAGES)).map(messageItem);
  return [element("section", "other-messages", element("h2", "", "Not graph breaks"), element("ul", "", ...items))];
}

function respeltWords({ word, as }) {
  return `nothing says “${word}”, these say ${as.slice(0, 3).map((one) => `“${one}”`).join(" or ")}`;
}

function showTheRest() {
  showAll = true;
  show();
  remember();
  links()[FIRST]?.focus();
}

function showChips(filters) {
  const inControls = state.pairs.filter((pair) => !others.includes(pair));
  const shown = filters.filter((filter) => !inControls.includes(filter.pair));
  chips.replaceChildren(...shown.map((filter) => element("li", "", chip(filter))));
}

function chip(filter) {
  const made = button(`${filter.words} `, filter.known ? "chip" : "chip chip-unknown", () => drop([filter]));
  const cross = element("span", "", "×");
  cross.setAttribute("aria-hidden", "true");
  made.append(cross);
  made.setAttribute("aria-label", `Remove the filter ${filter.words}`);
  return made;
}

// From reader to state

function showControls() {
  box.value = state.text;
  others = showPairs(form, state.pairs);
  toggle.textContent = state.pairs.length ? `Filters (${state.pairs.length})` : "Filters";
  clearFilters.hidden = !state.pairs.length;
}

function change(next) {
  remember();
  state = { ...state, ...next };
  showAll = false;
  history.pushState({ ownTorch: true }, "", address());
  showControls();
  show();
}

function drop(filters) {
  change({ pairs: state.pairs.filter((pair) => !filters.some((filter) => filter.pair === pair)) });
  box.focus();
}

function takeWay(way) {
  if (way.drop) return drop(way.drop);
  change({ text: way.text });
  box.focus();
}

function clearText() {
  state.text = box.value = "";
  showAll = false;
  show();
  remember();
}

box.addEventListener("input", () => {
  state.text = box.value;
  showAll = false;
  show();
  clearTimeout(writing);
  writing = setTimeout(remember, 150); // browsers refuse an address that changes too often
});

form.addEventListener("change", (event) => {
  if (event.target === box) return;
  if (event.target.name === "since-sign" && !form.elements.since.value) return;
  change({ pairs: [...readPairs(form), ...others] });
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await shown;
  const first = links().find((link) => !link.closest(".empty"));
  if (first?.textContent.toLowerCase() === idOf(state.text)) location.assign(first.href);
  else if (state.text.trim()) first?.focus(); // to open another page than the one that was named is the reader's choice
});

clearFilters.addEventListener("click", () => {
  change({ pairs: [] });
  box.focus();
});

toggle.addEventListener("click", () => {
  toggle.setAttribute("aria-expanded", String(toggle.getAttribute("aria-expanded") !== "true"));
});

document.querySelector("#content").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (link.matches('[href^="index.html?"]:not([href*="torch="])')) {
    event.preventDefault();
    change(readState(new URL(link.href).search));
  } else remember(link.getAttribute("href"));
});

// The address and the back button

function address() {
  return location.pathname + writeState({ ...state, pairs: [...state.pairs, ...inAddress()] });
}

/** Write the state into the current entry of the history, with what the address does not hold. */
function remember(opened = null) {
  clearTimeout(writing);
  history.replaceState({ scroll: scrollY, showAll, opened, ownTorch: true }, "", address() + location.hash);
}

async function restore(kept) {
  state = readState(location.search);
  showAll = kept?.showAll ?? false;
  showControls();
  await show();
  if (kept?.opened) links().find((link) => link.getAttribute("href") === kept.opened)?.focus({ preventScroll: true });
  if (kept?.scroll !== undefined) scrollTo({ top: kept.scroll, behavior: "instant" });
}

addEventListener("popstate", (event) => {
  if (event.state || !location.hash) restore(event.state).then(() => remember(event.state?.opened)); // otherwise somebody went to an anchor on this page
});
addEventListener("scrollend", () => remember(history.state?.opened));

// The keyboard

function links() {
  return [...document.querySelectorAll("#results a, ul.registry a, #others a")];
}

function moveTo(at) {
  const all = links();
  if (at < 0) box.focus();
  else all[Math.min(at, all.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const at = event.target === box ? -1 : links().indexOf(event.target);
  if (at < 0 && event.target !== box) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (at < 0 && event.key === "ArrowUp") return;
    event.preventDefault();
    moveTo(at + (event.key === "ArrowDown" ? 1 : -1));
  } else if (event.key === "Escape") {
    event.preventDefault();
    clearText();
    box.focus();
  } else if (event.key.length === 1 && event.key !== " " && event.key !== "/") box.focus(); // the letter lands in the box
});

// A log in the box

box.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text");
  if (!isLog(text)) return;
  event.preventDefault();
  showFindings(text);
});

function isLog(text) {
  return text.trim().includes("\n") || text.length > LONG;
}

/** Name the breaks in a log. Its text goes into no address: it is the reader's own. */
async function showFindings(text) {
  const mine = (turn += 1);
  try {
    const report = await findBreaks(text);
    if (mine !== turn) return;
    state.text = box.value = "";
    count.textContent = "In the text that you pasted; it stays on this page";
    showFindingsHere(report);
    remember();
  } catch {
    state.text = box.value = text.replace(/\s+/g, " ").trim();
    show();
  }
}

// Start

history.scrollRestoration = "manual"; // results come later than the browser's own attempt
restore(history.state).then(() => isLog(state.text) && showFindings(state.text));
box.addEventListener("focus", () => loadIndex().catch(() => {}), { once: true });
if (inAddress().length) followTorch();
else whenIdle(() => loadIndex().catch(() => {}));
})();
})();
