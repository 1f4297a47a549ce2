// Reads logs with the registry's wordings: in a worker, or in the page where there is none.

import { makeReport } from "./log-report.js";
import { Matcher } from "./matching.js";

/** A function that reads a log. */
export function readerWith({ wordings, answers }) {
  const matcher = new Matcher(wordings);
  return (text, torch) => makeReport(text, matcher, wordings, answers, torch);
}

/** In a worker: the first message brings the wordings and answers, each later one a text to read. */
export function answerRequests(worker) {
  let read;
  worker.addEventListener("message", ({ data: { request, text, torch, known } }) => {
    if (known) {
      read = readerWith(known);
      return;
    }
    try {
      worker.postMessage({ request, report: read(text, torch) });
    } catch (error) {
      worker.postMessage({ request, error: String(error) });
    }
  });
}
