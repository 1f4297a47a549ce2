// On every page: `/` goes to the search box, code gets a button that copies it, and the keyboard can scroll what is wide.

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
    getSelection().selectAllChildren(parts.at(-1)); // no permission, or no secure address: the reader's own Ctrl-C will do
    button.textContent = "Press Ctrl-C";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

for (const wide of document.querySelectorAll("main pre, main table")) {
  if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
}
