// Joined by generate_site.py from templates/scripts: change the modules there.
(() => {
"use strict";
const modules = {};

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

modules["site"] = (() => {
// On every page: `/` goes to the search box, code gets a button that copies it, the keyboard can scroll what is wide, and
// what is said of a release follows the reader's torch.

const { followTorch } = modules["my-torch"];

const search = document.querySelector("input[type=search]");

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && search && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});

for (const pre of document.querySelectorAll("main pre")) {
  const box = document.createElement("div");
  const button = document.createElement("button");
  box.className = "code-box";
  Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", () => copy(pre, button));
  pre.replaceWith(box);
  box.append(pre, button);
}

async function copy(pre, button) {
  try {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
  } catch {
    // No permission, or no secure address: the reader's own Ctrl-C will do.
    getSelection().selectAllChildren(pre);
    button.textContent = "Press Ctrl-C";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

// The line that breaks, and what a fix does otherwise, are marked as whole lines.
for (const example of document.querySelectorAll(".example")) {
  const comparable = (line) => line.replace(/<[^>]*>|\s*# breaks here/g, "").replace(/(def |compile\()\w+/, "$1").trim();
  const known = new Set(example.querySelector(".breaks code")?.innerHTML.split("\n").map(comparable));
  for (const code of example.querySelectorAll(".sample code")) {
    if (!code.closest("pre")) continue;
    const broken = code.closest(".breaks");
    const look = (line) => (broken ? /class="c1 here"/.test(line) && "here" : isNew(line) && "changed");
    const isNew = (line) => comparable(line) && !known.has(comparable(line)) && !/^print\((torch\.compile\(|\w+\(\)\)$)/.test(comparable(line));
    const whole = (line) => line.split("<span").length === line.split("</span").length; // no text over several lines
    code.innerHTML = code.innerHTML
      .replace(/\n((?:<\/span>)+)/g, "$1\n") // Jekyll's comments hold the end of their line
      .split("\n")
      .map((line) => (whole(line) && look(line) ? `<span class="line ${look(line)}">${line}</span>` : line))
      .join("\n");
  }
}

for (const heading of document.querySelectorAll("main :is(h2, h3)[id]")) {
  const link = document.createElement("a");
  Object.assign(link, { className: "permalink", href: `#${heading.id}` });
  link.setAttribute("aria-label", `Link to "${heading.textContent}"`);
  heading.append(link);
}

// A report to PyTorch is filled in with the first program and what torch prints.
for (const link of document.querySelectorAll("a.report")) {
  const parts = [".breaks pre", "#what-torch-prints ~ div pre"].map((place) => document.querySelector(place));
  const fenced = parts.filter(Boolean).map((pre) => `\`\`\`\n${pre.textContent.trimEnd()}\n\`\`\``);
  const body = ["### 🐛 Describe the bug", ...fenced, location.href, "### Versions"].join("\n\n");
  const filled = `${link.href}&body=${encodeURIComponent(body)}`;
  if (filled.length <= 7000) link.href = filled; // longer ones are refused
}

// Programs of one id stand one below the other; here only one of them is shown, chosen by its tab.
for (const tabs of document.querySelectorAll("nav.tabs")) {
  const links = [...tabs.querySelectorAll("a")];
  const panels = links.map((link) => document.getElementById(link.hash.slice(1)));
  const choose = (chosen) => {
    links.forEach((link, at) => {
      link.setAttribute("aria-selected", at === chosen);
      link.tabIndex = at === chosen ? 0 : -1;
      panels[at].hidden = at !== chosen;
    });
  };
  const named = () => links.findIndex((link) => link.hash === location.hash);
  tabs.setAttribute("role", "tablist");
  links.forEach((link, at) => {
    link.setAttribute("role", "tab");
    link.setAttribute("aria-controls", panels[at].id);
    panels[at].setAttribute("role", "tabpanel");
    panels[at].setAttribute("aria-label", link.textContent);
    link.addEventListener("click", (event) => {
      event.preventDefault(); // the page stays where it is
      history.replaceState(null, "", link.hash);
      choose(at);
    });
    link.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (at + step + links.length) % links.length;
      choose(next);
      links[next].focus();
    });
  });
  const firstIn = (torch) => links.findIndex((link) => link.dataset.firstIn.split(" ").includes(torch)); // else the first
  choose(Math.max(0, named()));
  addEventListener("hashchange", () => named() >= 0 && choose(named()));
  document.addEventListener("torch", () => named() < 0 && choose(Math.max(0, firstIn(document.documentElement.dataset.torch))));
}

followTorch();

for (const wide of document.querySelectorAll("main pre, main table, main p:has(> img)")) {
  if (wide.matches("p") || wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0; // a picture may not be there yet
}
})();
})();
