// Joined by generate_site.py from templates/scripts: change the modules there.
(() => {
"use strict";
const modules = {};

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

modules["paste"] = (() => {
// The paste page: text comes from the box, a file, a drop or the example; what is in it is shown below.

const { describeFindings, findBreaks, renderFindings } = modules["findings"];
const { load } = modules["loading"];

const PAUSE = 150; // milliseconds without a keystroke
const SLOW = 5_000; // characters: browsers insert a longer paste line by line, which takes seconds; as a value, none
const SHOWN = 200_000; // characters: a longer text would make the box itself slow, so it is only named
const LARGEST = 200 * 2 ** 20; // bytes of a file: browsers hold no string much longer

const form = document.querySelector("#paste");
const box = form.querySelector("textarea");
const file = form.querySelector("input[type=file]");
const held = form.querySelector(".paste-held");
const status = document.querySelector("#paste-status");
const findings = document.querySelector("#paste-findings");

let attempts = 0;
let timer;

box.addEventListener("focus", () => findBreaks("").catch(() => {}), { once: true }); // fetch while the reader pastes
box.addEventListener("input", () => {
  hold("");
  clearTimeout(timer);
  timer = setTimeout(() => read(box.value), PAUSE);
});
box.addEventListener("paste", (event) => {
  const pasted = event.clipboardData.getData("text");
  if (pasted.length <= SLOW) return;
  event.preventDefault();
  take(box.value.slice(0, box.selectionStart) + pasted + box.value.slice(box.selectionEnd), "The pasted text");
});
file.addEventListener("change", () => takeFile(file.files[0]));
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("dropping");
});
form.addEventListener("dragleave", (event) => {
  if (!form.contains(event.relatedTarget)) form.classList.remove("dropping");
});
form.addEventListener("drop", (event) => {
  event.preventDefault();
  form.classList.remove("dropping");
  if (event.dataTransfer.files.length) takeFile(event.dataTransfer.files[0]);
  else take(event.dataTransfer.getData("text"), "The dropped text");
});
form.querySelector("#paste-example").addEventListener("click", takeExample);
form.querySelector("#paste-clear").addEventListener("click", () => {
  take("", "");
  box.focus();
});
if (box.value) read(box.value);

async function takeExample() {
  const attempt = begin("Loading the example …");
  try {
    const text = await load("data/example");
    if (attempt === attempts) take(text, "The example");
  } catch {
    fail(attempt, "The example could not be loaded. Check the connection and try again.");
  }
}

async function takeFile(chosen) {
  if (!chosen) return;
  const attempt = begin(`Reading ${chosen.name} …`);
  try {
    const text = decode(await chosen.slice(0, LARGEST).arrayBuffer());
    const name = chosen.size > LARGEST ? `The first ${size(LARGEST)} of ${chosen.name}` : chosen.name;
    if (attempt === attempts) take(text, name);
  } catch {
    fail(attempt, `${chosen.name} could not be read.`);
  } finally {
    file.value = ""; // so that the same file, written anew, can be chosen again
  }
}

/** UTF-8, or what Windows PowerShell's `>` writes. */
function decode(bytes) {
  const start = new Uint8Array(bytes.slice(0, 2));
  return new TextDecoder(start[0] === 0xff && start[1] === 0xfe ? "utf-16le" : "utf-8").decode(bytes);
}

function take(text, name) {
  clearTimeout(timer);
  const long = text.length > SHOWN;
  box.value = long ? "" : text;
  hold(long ? `${name} (${size(text.length)}) is too long to show here. All of it is read.` : "");
  read(text);
}

function hold(note) {
  held.hidden = !note;
  held.textContent = note;
}

async function read(text) {
  const attempt = begin(text.trim() ? "Reading …" : "");
  if (!text.trim()) {
    findings.replaceChildren();
    return;
  }
  try {
    const report = await findBreaks(text);
    if (attempt !== attempts) return;
    renderFindings(findings, report);
    status.textContent = describeFindings(report);
  } catch {
    fail(attempt, "The registry's wordings could not be loaded. Check the connection and try again.");
  }
}

/** Only the newest attempt may show anything. */
function begin(note) {
  status.textContent = note;
  return ++attempts;
}

function fail(attempt, note) {
  if (attempt !== attempts) return;
  findings.replaceChildren();
  status.textContent = note;
}

function size(characters) {
  return characters < 2 ** 20 ? `${Math.ceil(characters / 1024)} KB` : `${(characters / 2 ** 20).toFixed(1)} MB`;
}
})();
})();
