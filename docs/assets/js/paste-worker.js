// Reads logs off the page's thread, so that ten megabytes don't hold up typing.

import { readLog } from "./log-reader.js";

self.addEventListener("message", async ({ data: { request, text } }) => {
  try {
    self.postMessage({ request, report: await readLog(text) });
  } catch (error) {
    self.postMessage({ request, error: String(error) });
  }
});
