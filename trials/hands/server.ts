import { runServer } from "../run-server.ts";

/** A server of trial:hands. */
await runServer();
