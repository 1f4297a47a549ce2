// The home page: a search box and filters over the list of all breaks. The address holds their state.

import { advise } from "./advice.js";
import { readPairs, showPairs } from "./controls.js";
import { facetTable, filterOf, passesAll, readState, valuesOf, writeState } from "./filters.js";
import { findBreaks, renderFindings } from "./findings.js";
import { load } from "./loading.js";
import { inAddress } from "./my-torch.js";
import { button, completeRow, element, emptyAdvice, markWords, messageItem, rowsOf } from "./results.js";
import { buildIndex, idOf, search } from "./search.js";

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
