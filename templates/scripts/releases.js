// The releases page: choose two, and see what differs. The choice is in the address, so it can be sent to somebody.

import { load, root } from "./loading.js";
import { readersTorch } from "./my-torch.js";
import { chosen, compareReleases, compareRuns, devicesOfBoth, neverRun } from "./release-changes.js";

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
