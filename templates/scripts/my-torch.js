// The torch that the reader uses: in the address, and kept for other pages. Without a choice it is the newest that we know.

const KEPT = "graph-breaks-torch";
const controls = [...document.querySelectorAll(".my-torch")];
const releases = controls[0]?.dataset.releases.split(" ") ?? []; // newest first

/** Of `known`, newest first, the reader's: what a link to this page asks for, or else an earlier page, or an earlier visit. */
export function readersTorch(known) {
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
export function inAddress() {
  const { torch } = document.documentElement.dataset;
  return torch && torch !== releases[0] ? [["torch", torch]] : [];
}

/** Turn this page to the reader's release, and again when another is chosen. */
export function followTorch() {
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
