// On every page: `/` goes to the search box, code gets a button that copies it, the keyboard can scroll what is wide, and
// what is said of a release follows the reader's torch.

import { followTorch } from "./my-torch.js";

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
