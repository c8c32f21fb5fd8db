// Tells the process that started this one of each module that is loaded, for `npm run dev` (scripts/dev.ts).
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:") && !url.includes("/node_modules/")) process.send?.({ read: [fileURLToPath(url)] });
    return next(url, context);
  },
});
