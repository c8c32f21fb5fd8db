import { flushCompileCache } from "node:module";

/** `src/main.ts`, which keeps what Node has compiled for the next one: a server that is killed could not. */
await import("../../src/main.ts");
flushCompileCache();
