import { runServer } from "../run-server.ts";
import { trialNetwork } from "./network.ts";

/** A server of trial:hands, in a network of the trial's own. */
await runServer({ network: trialNetwork(Number(process.env["TRIAL_PUBLIC_PORT"]), process.env["TRIAL_FAULT"] === "network") });
