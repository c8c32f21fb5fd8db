import { unfenced } from "../../tests/support/writes.ts";
import { runServer } from "../run-server.ts";

/** A server of trial:servers. Its fault: what the holder of a lease writes is not fenced. */
await runServer(process.env["TRIAL_FAULT"] === "unfenced" ? { sql: unfenced } : {});
