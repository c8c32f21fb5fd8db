import { unfenced } from "../../tests/support/writes.ts";
import { runNode } from "../node.ts";

/** A server of trial:nodes. Its fault: what the holder of a lease writes is not fenced. */
await runNode(process.env["TRIAL_FAULT"] === "unfenced" ? { sql: unfenced } : {});
