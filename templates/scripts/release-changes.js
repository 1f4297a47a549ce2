// What differs between two torch releases, from assets/data/releases.json. No page in here: Node runs it too.

const BREAKS = ["verified", "reproduced"];

/** {group: [{id, title, before}]} in the order of the page; a group without an id is left out. */
export function compareReleases(data, from, to) {
  const pair = places(data, from, to);
  const found = Object.fromEntries(Object.keys(data.groups).map((group) => [group, []]));
  for (const [id, known] of Object.entries(data.ids)) {
    for (const group of happened(known, pair)) {
      found[group].push({ id, ...titles(known, pair, group) });
    }
  }
  return withoutEmpty(found);
}

/** The same for the programs that were run on one device: {group: [{id, title, from, to}]}, from and to being {says, instead}. */
export function compareRuns(data, from, to, device) {
  const pair = places(data, from, to);
  const verdicts = Object.keys(data.verdicts);
  const found = Object.fromEntries(Object.keys(data.run_groups).map((group) => [group, []]));
  for (const [id, known] of Object.entries(data.ids)) {
    for (const { title, runs, fixes, instead } of known.programs) {
      const before = verdicts[runs[device][pair.from]];
      const after = verdicts[runs[device][pair.to]];
      const group = turned(before, after, fixes[device][pair.from], fixes[device][pair.to]);
      if (!group) continue;
      const said = (verdict, torch) => ({ says: data.verdicts[verdict], instead: verdict === "other id" ? instead[torch] : "" });
      const name = title ? `${known.titles[0]} (${title})` : known.titles[0];
      found[group].push({ id, title: name, from: said(before, from), to: said(after, to) });
    }
  }
  return withoutEmpty(found);
}

/** The devices on which the programs were run with both releases. */
export function devicesOfBoth(data, from, to) {
  return Object.keys(data.devices).filter((device) => [from, to].every((one) => data.devices[device].includes(one)));
}

/** Those of the two releases with which nothing was run. */
export function neverRun(data, from, to) {
  const ran = new Set(Object.values(data.devices).flat());
  return [...new Set([from, to])].filter((one) => !ran.has(one));
}

/** The two releases that an address names; else from the reader's torch, or the last but one that was run, to the newest. */
export function chosen(data, query, mine = "") {
  const known = data.releases.map((one) => one.torch);
  const asked = new URLSearchParams(query);
  const pick = (name, otherwise) => (known.includes(asked.get(name)) ? asked.get(name) : otherwise);
  const ran = known.filter((torch) => Object.values(data.devices).flat().includes(torch));
  const newest = ran.length > 1 ? ran : known;
  const start = known.includes(mine) && mine !== newest.at(-1) ? mine : (newest.at(-2) ?? newest.at(-1));
  return { from: pick("from", start), to: pick("to", newest.at(-1)) };
}

function places(data, from, to) {
  const place = (torch) => data.releases.findIndex((one) => one.torch === torch);
  return { from: place(from), to: place(to) };
}

function happened(known, { from, to }) {
  const [old, now] = [known.wording[from], known.wording[to]];
  const groups = [];
  if (old < 0 && now >= 0) groups.push("added");
  if (old >= 0 && now < 0) groups.push("dropped");
  if (old >= 0 && now >= 0 && old !== now) groups.push(meaningChanged(known, from, to) ? "meaning" : "reworded");
  if (known.live[from] === "1" && known.live[to] === "0") groups.push("retired");
  if (known.live[from] === "0" && known.live[to] === "1" && old >= 0) groups.push("emitted");
  return groups;
}

function meaningChanged(known, from, to) {
  const [first, last] = [Math.min(from, to), Math.max(from, to)]; // a comparison may also go backwards
  return known.meaning.some((at) => at > first && at <= last);
}

function titles(known, { from, to }, group) {
  const before = known.titles[known.wording[from]];
  const title = known.titles[known.wording[to]] ?? before ?? known.titles[0];
  const changed = ["reworded", "meaning"].includes(group) && before !== title;
  return { title, before: changed ? before : "" };
}

function turned(before, after, held, holds) {
  if (before === after) {
    if (!BREAKS.includes(before) || held === holds) return null;
    return held & ~holds ? "lost" : "gained"; // a fix may stop working although another one still works
  }
  if (before === "stopped" && BREAKS.includes(after)) return "started";
  if (BREAKS.includes(before) && after === "stopped") return "stopped";
  if ([before, after].includes("other id") && (BREAKS.includes(before) || BREAKS.includes(after))) return "other";
  if (BREAKS.includes(before) && BREAKS.includes(after)) return after === "verified" ? "gained" : "lost";
  const ran = [...BREAKS, "stopped", "other id", "failed"];
  return [before, after].includes("failed") && ran.includes(before) && ran.includes(after) ? "failed" : null;
}

function withoutEmpty(found) {
  return Object.fromEntries(Object.entries(found).filter(([, entries]) => entries.length));
}
