import { startApp, type Overrides } from "../src/app.ts";
import { readEnvironment } from "../src/config/environment.ts";
import { loadSettings } from "../src/config/settings.ts";

/** The leases of trials: a tenth of production's, in ms. */
export const TRIAL_LEASES = { ttlMs: 1_500, renewMs: 500, startMs: 1_000 };

/** Runs a server of a trial in this process, until SIGTERM, and says its URL. */
export async function runServer(overrides: Overrides = {}): Promise<void> {
  const settings = await loadSettings(readEnvironment({ ...process.env, PORT: "0" }));
  const app = await startApp(settings, { leaseTimes: TRIAL_LEASES, ...overrides });
  process.once("SIGTERM", () => void app.close());
  console.log(`listens at http://127.0.0.1:${app.port}/graphql`);
}

/** What a server of a trial says when it is ready. */
export const SERVER_READY = /http:\/\/127\.0\.0\.1:\d+\/graphql/;
