import { runServer } from "./run-server.ts";

/** A server of a trial, without any fault of its own. */
await runServer();
