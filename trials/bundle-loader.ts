import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Is loaded before a process of a trial (bundle.ts): each module of `src` is found in the bundle in the folder TRIAL_BUNDLE. */
const { TRIAL_BUNDLE = "" } = process.env;
const SRC = new URL("../src/", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    if (!found.url.startsWith(SRC)) return found;
    const name = found.url.slice(SRC.length).replace(/\.ts$/, "").replaceAll("/", ".");
    const path = join(TRIAL_BUNDLE, `${name}.js`);
    // Two instances of one module would be two sets of its classes and of its state.
    if (!existsSync(path)) throw new Error(`${found.url} is not in the bundle of the trials`);
    return { ...found, url: pathToFileURL(path).href, format: "module" };
  },
});
