import { runNode } from "./node.ts";

/** A server of a trial, without any fault of its own. */
await runNode();
