// The state of the home page as an address, and what its filters let through. Pure.
//
// ?q=words&category=a,b&since=ge:2.13.0: facets are ANDed, a comma means OR. `any` stands for "has a value", `none` for
// "has none". Facets of releases take ge:, le: and eq:.

const COMPARE = { ge: (one, other) => one >= other, le: (one, other) => one <= other, eq: (one, other) => one === other };
const SIGNS = { ge: "≥ ", le: "≤ ", eq: "= " };

/** Read an address's query: {text, pairs}, pairs being [facet, value] in order. */
export function readState(query) {
  const pairs = [...new URLSearchParams(query)].filter(([, value]) => value !== "");
  return {
    text: pairs.find(([name]) => name === "q")?.[1] ?? "",
    pairs: pairs.filter(([name]) => !["q", "torch"].includes(name)), // the reader's torch is no filter
  };
}

/** The query of an address for a state; "" for the plain list. */
export function writeState({ text, pairs }) {
  const query = new URLSearchParams([...(text.trim() ? [["q", text]] : []), ...pairs]).toString();
  return query && `?${query.replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

/** Facets of breaks.json by name, with the place of each value. */
export function facetTable(facets) {
  return new Map(
    facets.map((facet) => {
      const values = facet.values ?? [];
      return [facet.name, { ...facet, values, places: new Map(values.map((value, place) => [value, place])) }];
    }),
  );
}

/** One [facet, value] as a filter: {pair, known, words, passes}. One that is not known says so in its words. */
export function filterOf(pair, table) {
  const [name, value] = pair;
  const facet = table.get(name);
  if (!facet) return { pair, known: false, words: `${name}: no such filter, ignored`, passes: () => true };
  const alternatives = (facet.places.has(value) ? [value] : value.split(",")).map((one) => alternative(one.trim(), facet));
  return {
    pair,
    known: alternatives.every((one) => one.known),
    words: `${facet.words}: ${alternatives.map((one) => one.words).join(" or ")}`,
    passes: (entry) => alternatives.some((one) => one.passes(entry.facets[name])),
  };
}

function alternative(value, facet) {
  const named = (words, passes) => ({ known: true, words, passes });
  if (facet.places.has(value)) {
    const place = facet.places.get(value);
    return named(facet.titles?.[place] ?? value, (mask) => hasBit(mask, place));
  }
  if (value === "any") return named("any", (mask) => mask !== undefined);
  if (value === "none") return named("none", (mask) => mask === undefined);
  const [, sign, release] = /^(ge|le|eq):(.*)$/.exec(value) ?? [];
  if (facet.ordered && facet.places.has(release)) {
    const limit = facet.places.get(release);
    const places = [...facet.places.values()].filter((place) => COMPARE[sign](place, limit));
    return named(`${SIGNS[sign]}${release}`, (mask) => places.some((place) => hasBit(mask, place)));
  }
  return { known: false, words: `${value} (no such value)`, passes: () => false };
}

/** Whether a hexadecimal mask has the bit of a place. */
export function hasBit(mask, place) {
  const digit = mask?.[mask.length - 1 - (place >> 2)];
  return digit !== undefined && ((parseInt(digit, 16) >> (place & 3)) & 1) === 1;
}

/** The values that an entry has of a facet. */
export function valuesOf(entry, facet) {
  return facet.values.filter((_, place) => hasBit(entry.facets[facet.name], place));
}

/** All filters at once. */
export function passesAll(filters) {
  return (entry) => filters.every((filter) => filter.passes(entry));
}
