// Where the site lies, and what is loaded from it. As scripts: a page that was opened from disk may not fetch files.

export const root = new URL("../../", document.currentScript.src);

const loading = new Map();

/** What a script under assets/ holds: load("data/breaks"). It is loaded once; after a failure the next call tries again. */
export function load(name) {
  if (!loading.has(name)) {
    loading.set(name, request(name));
    loading.get(name).catch(() => loading.delete(name));
  }
  return loading.get(name);
}

function request(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(`assets/${name}.js`, root);
    script.addEventListener("load", () => resolve(self.graphBreaks[name]));
    script.addEventListener("error", () => reject(new Error(`${script.src} could not be loaded`)));
    document.head.append(script);
  });
}
