// Findings as Markdown, for an issue or a chat. Pure.

/** The whole report; `site` is the address of the registry's home page. */
export function markdownOf({ breaks, others, unknown, shared }, site) {
  const parts = [
    ...breaks.map((found) => breakPart(found, site)),
    ...others.map((found) => otherPart(found, site)),
    ...unknown.map(({ text, count }) => `### A message that the registry does not know${times(count)}\n\n${fence(text)}`),
  ];
  if (shared) parts.push("torch prints this line for many breaks; the lines above it would tell which.");
  return `${parts.join("\n\n")}\n`;
}

/** What to say to somebody whose torch is old, as its words tell. */
export function oldWords(gone, wordedBy) {
  if (gone) return `torch ${gone} and later have no such break: a newer torch may be all that you need.`;
  return wordedBy && `These are words of torch ${wordedBy}. A newer torch prints others.`;
}

function breakPart({ steps, count, places, source, gone, wordedBy, advice }, site) {
  const names = steps.flatMap(({ candidates }) => candidates.slice(0, 1)).map(({ gbId, title, page }) => {
    return page ? `[${gbId}](${new URL(page, site).href}) ${escaped(title)}` : gbId;
  });
  const lines = [`### ${names.join(" → ") || "An old graph break"}${times(count)}`];
  if (places.length) lines.push(`At \`${places[0].place}\`${source ? `:\n\n${fence(source, "python")}` : ""}`);
  const old = oldWords(gone, wordedBy);
  if (old) lines.push(old);
  if (advice?.why) lines.push(escaped(advice.why));
  if (advice?.misfit) lines.push(advice.misfit);
  for (const { text } of advice?.counsels ?? []) lines.push(`Try: ${text}`);
  const [fix] = advice?.fixes ?? [];
  if (fix) lines.push(`Fix (held on torch ${fix.release}): ${fix.when}\n\n${fence(fix.code, "python")}`);
  const text = steps.map((step) => step.text).join("\n\n");
  lines.push(`<details><summary>The message</summary>\n\n${fence(text)}\n\n</details>`);
  return lines.join("\n\n");
}

function otherPart({ title, short, wayOut, page, text, count }, site) {
  const link = new URL(page, site).href;
  return `### Not a graph break: [${title}](${link})${times(count)}\n\nIt is this: ${short}\n\nTry: ${wayOut}\n\n${fence(text)}`;
}

function times(count) {
  return count > 1 ? ` (${count}×)` : "";
}

/** A code block that no line of the text can end. */
function fence(text, language = "") {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${text}\n${ticks}`;
}

function escaped(text) {
  return text.replace(/[\\*_<>[\]#]/g, "\\$&");
}
