// The torch that the reader uses: in the address, and kept for other pages. Without a choice it is the newest that we know.

const KEPT = "graph-breaks-torch";
const controls = [...document.querySelectorAll(".my-torch")];
const releases = controls[0]?.dataset.releases.split(" ") ?? []; // newest first

/** The one of `known`, newest first, that "2.9.1", "2.9" or another 2.9 means; otherwise the newest. */
export function meant(known, asked) {
  const minor = `${asked.split(".").slice(0, 2).join(".")}.`;
  return known.find((one) => one === asked) ?? known.find((one) => one.startsWith(minor)) ?? known[0] ?? "";
}

/** What the address asks for, or else an earlier page, or the choice of an earlier visit; "" if none does. */
export function askedFor() {
  const inAddress = new URLSearchParams(location.search).get("torch");
  if (inAddress) keep("sessionStorage", inAddress); // somebody else's choice, or that of a link: not for the next visit
  return inAddress || kept("sessionStorage") || kept("localStorage");
}

/** The release that this page shows, as [name, value] pairs for its address; the newest is not named. */
export function inAddress() {
  const { torch } = document.documentElement.dataset;
  return torch && torch !== releases[0] ? [["torch", torch]] : [];
}

/** Turn this page to the reader's release, and again when another is chosen. */
export function followTorch() {
  if (!releases.length) return;
  for (const control of controls) control.querySelector("b").replaceWith(selectOf());
  for (const link of document.querySelectorAll('a[href^="?torch="]')) {
    link.addEventListener("click", (event) => {
      event.preventDefault(); // the page stays where it is
      choose(link.dataset.release);
    });
  }
  turnTo(meant(releases, askedFor()));
}

function selectOf() {
  const select = document.createElement("select");
  select.append(...releases.map((torch, at) => new Option(at ? torch : `${torch} (newest)`, torch)));
  select.addEventListener("change", () => choose(select.value));
  return select;
}

function choose(torch) {
  for (const storage of ["sessionStorage", "localStorage"]) keep(storage, torch === releases[0] ? "" : torch);
  turnTo(torch);
}

function turnTo(torch) {
  document.documentElement.dataset.torch = torch;
  const others = [...new URLSearchParams(location.search)].filter(([name]) => name !== "torch");
  const query = new URLSearchParams([...others, ...inAddress()]);
  history.replaceState(history.state, "", location.pathname + (query.size ? `?${query}` : "") + location.hash);
  for (const control of controls) control.querySelector("select").value = torch;
  for (const one of document.querySelectorAll("[data-torch]:not(html)")) one.hidden = !one.dataset.torch.split(" ").includes(torch);
  for (const one of document.querySelectorAll("[data-release]")) {
    if (one.dataset.release === torch) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
  document.dispatchEvent(new Event("torch"));
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
    window[storage].setItem(KEPT, torch);
  } catch {
    // the address has it
  }
}
