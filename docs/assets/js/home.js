// The home page: a search box and filters over the list of all breaks. The address holds their state.

import { advise } from "./advice.js";
import { readPairs, showPairs } from "./controls.js";
import { facetTable, filterOf, passesAll, readState, writeState } from "./filters.js";
import { button, element, emptyAdvice, messageItem, resultItem } from "./results.js";
import { buildIndex, search, vocabulary } from "./search.js";

const FIRST = 50;
const MESSAGES = 4; // of those that are no graph breaks
const LONG = 240; // characters: nobody types that much; it is a log
const DATA = new URL("../data/breaks.json", import.meta.url);

const form = document.querySelector("#find");
const box = form.elements.q;
const toggle = document.querySelector("#filters-toggle");
const count = document.querySelector("#count");
const clearFilters = document.querySelector("#clear-filters");
const chips = document.querySelector("#chips");
const results = document.querySelector("#results");
const plain = document.querySelector("ul.registry");
const atRest = count.textContent;

let state = readState(location.search);
let showAll = false;
let others = []; // pairs that no control can show
let loading = null;
let loaded = null;
let shown = Promise.resolve();
let writing = 0;
let turn = 0; // of the last change: an answer to an earlier one comes too late

// The data

function load() {
  if (!loading) {
    loading = fetchData();
    loading.catch(() => (loading = null)); // the next attempt asks again
  }
  return loading;
}

async function fetchData() {
  const answer = await fetch(DATA);
  if (!answer.ok) throw new Error(`${answer.status}`);
  const data = await answer.json();
  const messages = buildIndex(data.messages, data.before);
  loaded = { index: buildIndex(data.breaks, data.before), messages, table: facetTable(data.facets) };
  whenIdle(() => vocabulary(loaded.index));
  return loaded;
}

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
  plain.hidden = true;
  try {
    const data = loaded ?? (await load()); // once it is there, the answer comes within the keystroke
    if (mine === turn) showResults(data);
  } catch {
    if (mine === turn) showPlainList("The search could not load its data. This is the whole list.");
  }
}

function showPlainList(words = atRest) {
  plain.hidden = false;
  results.replaceChildren();
  chips.replaceChildren();
  count.textContent = words;
}

function showResults({ index, messages, table }) {
  const filters = state.pairs.map((pair) => filterOf(pair, table));
  const { entries, words, respelt } = search(index, state.text, passesAll(filters));
  showChips(filters);
  const asked = filters.some((filter) => table.has(filter.pair[0])) || state.text.trim();
  if (!asked) return showOnlyChips();
  count.textContent = [`${entries.length} of ${index.entries.length}`, ...respelt.map(respeltWords)].join(", ");
  const besides = filters.length ? [] : otherMessages(search(messages, state.text));
  if (entries.length) return results.replaceChildren(...resultList(entries, words, table), ...besides);
  results.replaceChildren(...besides, emptyAdvice(state, advise(index, state.text, filters), takeWay));
  if (besides.length) return;
  if (!state.pairs.length && state.text.includes(" ")) offerFindings(state.text);
}

/** No break has all these words; with values filled in they may still be a message, and the paste box knows those. */
async function offerFindings(text) {
  const mine = turn;
  try {
    const { findBreaks, renderFindings } = await import("./findings.js");
    const report = await findBreaks(text);
    if (mine !== turn || !(report.breaks.length || report.others.length)) return;
    count.textContent = "Read as a message";
    const findings = element("div", "findings-here");
    renderFindings(findings, report);
    results.replaceChildren(findings);
  } catch {
    // the advice stands
  }
}

/** Messages that are no graph breaks, found by words that they really have. */
function otherMessages({ entries, words, respelt }) {
  if (!entries.length || !words.length || respelt.length) return [];
  const items = entries.slice(0, MESSAGES).map((entry) => messageItem(entry, words));
  return [element("section", "other-messages", element("h2", "", "Not graph breaks"), element("ul", "", ...items))];
}

function showOnlyChips() {
  plain.hidden = false;
  results.replaceChildren();
  count.textContent = atRest;
}

function respeltWords({ word, as }) {
  return `nothing says “${word}”, these say ${as.slice(0, 3).map((one) => `“${one}”`).join(" or ")}`;
}

function resultList(entries, words, table) {
  const shown = showAll ? entries : entries.slice(0, FIRST);
  const list = element("ol", "results", ...shown.map((entry) => resultItem(entry, words, table)));
  if (shown.length === entries.length) return [list];
  return [list, button(`Show all ${entries.length}`, "show-all", showTheRest)];
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
  history.pushState({}, "", address());
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
  if (state.text.trim()) results.querySelector("a")?.click();
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
  if (link.matches('[href^="index.html?"]')) {
    event.preventDefault();
    change(readState(new URL(link.href).search));
  } else remember(link.getAttribute("href"));
});

// The address and the back button

function address() {
  return location.pathname + writeState(state);
}

/** Write the state into the current entry of the history, with what the address does not hold. */
function remember(opened = null) {
  clearTimeout(writing);
  history.replaceState({ scroll: scrollY, showAll, opened }, "", address() + location.hash);
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
  if (event.state || !location.hash) restore(event.state); // otherwise somebody went to an anchor on this page
});
addEventListener("scrollend", () => remember(history.state?.opened));

// The keyboard

function links() {
  return [...(plain.hidden ? results : plain).querySelectorAll("a")];
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
    const { findBreaks, renderFindings } = await import("./findings.js");
    const report = await findBreaks(text);
    if (mine !== turn) return;
    state.text = box.value = "";
    plain.hidden = true;
    count.textContent = "In the text that you pasted; it stays on this page";
    const findings = element("div", "findings-here");
    results.replaceChildren(findings);
    renderFindings(findings, report);
    remember();
  } catch {
    state.text = box.value = text.replace(/\s+/g, " ").trim();
    show();
  }
}

// Start

history.scrollRestoration = "manual"; // results come later than the browser's own attempt
restore(history.state).then(() => isLog(state.text) && showFindings(state.text));
box.addEventListener("focus", load, { once: true });
whenIdle(load);
