import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { startApp, type Overrides } from "../src/app.ts";
import { readEnvironment } from "../src/config/environment.ts";
import { loadSettings } from "../src/config/settings.ts";

/** The leases of trials: a tenth of production's, in ms. */
export const TRIAL_LEASES = { ttlMs: 1_500, renewMs: 500, startMs: 1_000 };

/** Runs a server of a trial in this process, until SIGTERM, and says its URL. One of several has a data folder of its own in the trial's. */
export async function runServer(overrides: Overrides = {}): Promise<void> {
  const { DATABASE_URL: url = "", TRIPLANE_DATA_DIR: data = "data" } = process.env;
  const own = url === "" ? data : join(data, `server-${process.pid}`);
  const settings = await loadSettings(readEnvironment({ ...process.env, PORT: "0", TRIPLANE_DATA_DIR: own }));
  const app = await startApp(settings, { leaseTimes: TRIAL_LEASES, ...overrides });
  process.once("SIGTERM", () => void app.close());
  // One that is killed could not write what was compiled, and all others would compile it again.
  flushCompileCache();
  console.log(`listens at http://127.0.0.1:${app.port}/graphql`);
}
