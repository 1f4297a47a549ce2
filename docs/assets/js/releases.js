// Joined by generate_site.py from templates/scripts: change the modules there.
(() => {
"use strict";
const modules = {};

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

modules["release-changes"] = (() => {
// What differs between two torch releases, from assets/data/releases.json. No page in here: Node runs it too.

const BREAKS = ["verified", "reproduced"];

/** {group: [{id, title, before}]} in the order of the page; a group without an id is left out. */
function compareReleases(data, from, to) {
  const pair = places(data, from, to);
  const found = Object.fromEntries(Object.keys(data.groups).map((group) => [group, []]));
  for (const [id, known] of Object.entries(data.ids)) {
    for (const group of happened(known, pair)) {
      found[group].push({ id, ...titles(known, pair, group) });
    }
  }
  return withoutEmpty(found);
}

/** The same for the programs that were run on one device: {group: [{id, title, from, to}]}, from and to being {says, instead}. */
function compareRuns(data, from, to, device) {
  const pair = places(data, from, to);
  const verdicts = Object.keys(data.verdicts);
  const found = Object.fromEntries(Object.keys(data.run_groups).map((group) => [group, []]));
  for (const [id, known] of Object.entries(data.ids)) {
    for (const { title, runs, fixes, instead } of known.programs) {
      const before = verdicts[runs[device][pair.from]];
      const after = verdicts[runs[device][pair.to]];
      const group = turned(before, after, fixes[device][pair.from], fixes[device][pair.to]);
      if (!group) continue;
      const said = (verdict, torch) => ({ says: data.verdicts[verdict], instead: verdict === "other id" ? instead[torch] : "" });
      const name = title ? `${known.titles[0]} (${title})` : known.titles[0];
      found[group].push({ id, title: name, from: said(before, from), to: said(after, to) });
    }
  }
  return withoutEmpty(found);
}

/** The devices on which the programs were run with both releases. */
function devicesOfBoth(data, from, to) {
  return Object.keys(data.devices).filter((device) => [from, to].every((one) => data.devices[device].includes(one)));
}

/** Those of the two releases with which nothing was run. */
function neverRun(data, from, to) {
  const ran = new Set(Object.values(data.devices).flat());
  return [...new Set([from, to])].filter((one) => !ran.has(one));
}

/** The two releases that an address names; else from the reader's torch, or the last but one that was run, to the newest. */
function chosen(data, query, mine = "") {
  const known = data.releases.map((one) => one.torch);
  const asked = new URLSearchParams(query);
  const pick = (name, otherwise) => (known.includes(asked.get(name)) ? asked.get(name) : otherwise);
  const ran = known.filter((torch) => Object.values(data.devices).flat().includes(torch));
  const newest = ran.length > 1 ? ran : known;
  const start = known.includes(mine) && mine !== newest.at(-1) ? mine : (newest.at(-2) ?? newest.at(-1));
  return { from: pick("from", start), to: pick("to", newest.at(-1)) };
}

function places(data, from, to) {
  const place = (torch) => data.releases.findIndex((one) => one.torch === torch);
  return { from: place(from), to: place(to) };
}

function happened(known, { from, to }) {
  const [old, now] = [known.wording[from], known.wording[to]];
  const groups = [];
  if (old < 0 && now >= 0) groups.push("added");
  if (old >= 0 && now < 0) groups.push("dropped");
  if (old >= 0 && now >= 0 && old !== now) groups.push(meaningChanged(known, from, to) ? "meaning" : "reworded");
  if (known.live[from] === "1" && known.live[to] === "0") groups.push("retired");
  if (known.live[from] === "0" && known.live[to] === "1" && old >= 0) groups.push("emitted");
  return groups;
}

function meaningChanged(known, from, to) {
  const [first, last] = [Math.min(from, to), Math.max(from, to)]; // a comparison may also go backwards
  return known.meaning.some((at) => at > first && at <= last);
}

function titles(known, { from, to }, group) {
  const before = known.titles[known.wording[from]];
  const title = known.titles[known.wording[to]] ?? before ?? known.titles[0];
  const changed = ["reworded", "meaning"].includes(group) && before !== title;
  return { title, before: changed ? before : "" };
}

function turned(before, after, held, holds) {
  if (before === after) {
    if (!BREAKS.includes(before) || held === holds) return null;
    return held & ~holds ? "lost" : "gained"; // a fix may stop working although another one still works
  }
  if (before === "stopped" && BREAKS.includes(after)) return "started";
  if (BREAKS.includes(before) && after === "stopped") return "stopped";
  if ([before, after].includes("other id") && (BREAKS.includes(before) || BREAKS.includes(after))) return "other";
  if (BREAKS.includes(before) && BREAKS.includes(after)) return after === "verified" ? "gained" : "lost";
  const ran = [...BREAKS, "stopped", "other id", "failed"];
  return [before, after].includes("failed") && ran.includes(before) && ran.includes(after) ? "failed" : null;
}

function withoutEmpty(found) {
  return Object.fromEntries(Object.entries(found).filter(([, entries]) => entries.length));
}

return { compareReleases, compareRuns, devicesOfBoth, neverRun, chosen };
})();

modules["releases"] = (() => {
// The releases page: choose two, and see what differs. The choice is in the address, so it can be sent to somebody.

const { load, root } = modules["loading"];
const { readersTorch } = modules["my-torch"];
const { chosen, compareReleases, compareRuns, devicesOfBoth, neverRun } = modules["release-changes"];

const form = document.getElementById("compare");
const shown = document.getElementById("compared");
const { from, to, swap } = form.elements;
const CHANGED_WORDS = ["reworded", "meaning"]; // their pages show the difference

start();

async function start() {
  let data;
  let touched = false; // somebody may choose before the data is there
  form.addEventListener("change", () => { touched = true; });
  try {
    data = await load("data/releases");
  } catch {
    form.hidden = true;
    shown.append(paragraph("The data for comparing could not be loaded. The lists below are complete without it."));
    return;
  }
  const follow = () => show(data, chosen(data, location.search, readersTorch(data.choices)));
  const choose = (pair) => {
    const address = new URL(location.href);
    address.searchParams.set("from", pair.from);
    address.searchParams.set("to", pair.to);
    history.pushState(null, "", address);
    follow();
  };
  form.addEventListener("change", () => choose({ from: from.value, to: to.value }));
  form.addEventListener("submit", (event) => event.preventDefault());
  swap.addEventListener("click", () => choose({ from: to.value, to: from.value }));
  addEventListener("popstate", follow);
  if (touched) choose({ from: from.value, to: to.value });
  else follow();
}

function show(data, pair) {
  from.value = pair.from;
  to.value = pair.to;
  shown.replaceChildren(...compared(data, pair));
}

function compared(data, pair) {
  const heading = element("h2", `From torch ${dated(data, pair.from)} to ${dated(data, pair.to)}`);
  if (pair.from === pair.to) return [heading, paragraph("Choose two different releases.")];
  const changes = compareReleases(data, pair.from, pair.to);
  return [heading, ...upgrade(data, pair), ...groups(changes, data.groups, wordsItem), ...runs(data, pair)];
}

/** What a newer torch is good for: programs that break in the older one only. */
function upgrade(data, { from, to }) {
  const place = (torch) => data.releases.findIndex((one) => one.torch === torch);
  if (place(from) > place(to) || !devicesOfBoth(data, from, to).includes("cpu")) return [];
  const { stopped = [], gained = [] } = compareRuns(data, from, to, "cpu");
  const words = `Of our programs that break in torch ${from}, ${stopped.length} compile without a break in ${to}. ${gained.length} others gained a fix that works.`;
  const items = (found) => found.map((one) => wordsItem(one));
  return [
    element("h3", "What upgrading buys you"),
    paragraph(words),
    ...(stopped.length ? [fold("No longer break", items(stopped))] : []),
    ...(gained.length ? [fold("Gained a working fix", items(gained))] : []),
    element("h3", "What changed in the registry"),
  ];
}

function runs(data, pair) {
  const heading = element("h3", "The programs of the pages, run in both");
  const missing = neverRun(data, pair.from, pair.to);
  if (missing.length) return [heading, paragraph(`Not run with torch ${missing.join(" and ")}.`)];
  const devices = devicesOfBoth(data, pair.from, pair.to);
  if (!devices.length) return [heading, paragraph("Not run on the same device with both.")];
  return [heading, ...devices.flatMap((device) => runsOn(data, pair, device))];
}

function runsOn(data, pair, device) {
  const changes = compareRuns(data, pair.from, pair.to, device);
  const item = (one, group) => {
    const line = wordsItem(one, group);
    const said = element("span", "", "before");
    said.append(`${pair.from}: `, ...words(one.from), `. ${pair.to}: `, ...words(one.to), ".");
    line.append(" ", said);
    return line;
  };
  return [element("h4", `On ${device}`), ...groups(changes, data.run_groups, item)];
}

function words({ says, instead }) {
  return instead ? ["gives ", breakLink(instead)] : [says];
}

function breakLink(id, anchor = "") {
  const link = element("a", id);
  link.href = new URL(`gb/${id.toLowerCase()}.html${anchor}`, root);
  return link;
}

function groups(changes, names, item) {
  const found = Object.entries(changes);
  const words = found.map(([group, entries]) => `${entries.length} ${names[group].toLowerCase()}`).join(", ") || "No change";
  return [paragraph(`${words}.`), ...found.map(([group, entries]) => fold(names[group], entries.map((one) => item(one, group))))];
}

function fold(name, items) {
  const details = element("details");
  const list = element("ul", "", "ids");
  list.append(...items);
  details.append(element("summary", `${name} (${items.length})`), list);
  return details;
}

function wordsItem({ id, title, before }, group) {
  const item = element("li");
  item.append(breakLink(id, CHANGED_WORDS.includes(group) ? "#earlier-wordings" : ""), " ");
  if (before) item.append(element("del", before), " ", element("ins", title));
  else item.append(title);
  return item;
}

function dated(data, torch) {
  const { built } = data.releases.find((one) => one.torch === torch);
  return built ? `${torch} (built ${built})` : torch;
}

function paragraph(text) {
  return element("p", text);
}

function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}
})();
})();
