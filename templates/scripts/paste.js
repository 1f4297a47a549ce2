// The paste page: text comes from the box, a file, a drop or the example; what is in it is shown below.

import { describeFindings, findBreaks, renderFindings } from "./findings.js";
import { load } from "./loading.js";

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
