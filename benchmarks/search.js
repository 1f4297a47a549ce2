// Run in the page: put a text into the box, as a keystroke would; return how many milliseconds the answer took.
(text) => {
  const box = document.querySelector("input[type=search]");
  box.value = text;
  const started = performance.now();
  box.dispatchEvent(new Event("input"));
  document.body.getBoundingClientRect(); // makes the browser lay the page out now
  return performance.now() - started;
}
