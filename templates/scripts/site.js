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

for (const code of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => copy([...code.querySelectorAll("pre")], button));
  code.querySelector("header, figcaption").append(button);
}

async function copy(parts, button) {
  try {
    await navigator.clipboard.writeText(parts.map((pre) => pre.textContent).join("\n"));
    button.textContent = "Copied";
  } catch {
    // No permission, or no secure address: the reader's own Ctrl-C will do.
    getSelection().selectAllChildren(parts.find((pre) => !pre.hidden && !pre.closest("details")));
    button.textContent = "Press Ctrl-C";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
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
  const firstIn = (torch) => links.findIndex((link) => link.dataset.firstIn.split(" ").includes(torch));
  choose(Math.max(0, named()));
  addEventListener("hashchange", () => named() >= 0 && choose(named()));
  document.addEventListener("torch", () => named() < 0 && choose(Math.max(0, firstIn(document.documentElement.dataset.torch))));
}

followTorch();

for (const wide of document.querySelectorAll("main pre, main table")) {
  if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
}
