// The breaks in a text: find them (in a worker), and show them. Used by the paste page and by the search box.

import { markdownOf, oldWords } from "./findings-markdown.js";
import { load, root } from "./loading.js";
import { readersTorch } from "./my-torch.js";

let reading;

/** Read a text; the registry's wordings are loaded on the first call. Rejects when they can't be. */
export async function findBreaks(text) {
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
export function describeFindings(report) {
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
export function renderFindings(container, report) {
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
