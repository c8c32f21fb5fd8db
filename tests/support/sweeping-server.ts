import { runServer } from "../../trials/run-server.ts";

/** A server whose sweeps begin with it, in the place of a random time later. */
Math.random = () => 0;
await runServer();
