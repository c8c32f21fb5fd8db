import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./app.ts";
import { runBundled, type TestProcess } from "./process.ts";

/** The server as a process of its own, with the project's own configuration. */
export type ServerProcess = TestProcess & { readonly url: string };

/** Starts `src/main.ts`, or another file that runs a server, on a free port and waits until it says that it runs. */
export async function startServerProcess(
  env: Readonly<Record<string, string>>,
  file = "tests/support/main-server.ts",
): Promise<ServerProcess> {
  const started = await runBundled(file, { PORT: "0", ANTHROPIC_API_KEY: "", DATABASE_URL: "", ...env });
  const url = (await started.says(/http:\/\/127\.0\.0\.1:\d+\/graphql/)).trim();
  return { ...started, url };
}

/** A copy of the example workspace. */
export async function exampleWorkspace(): Promise<string> {
  const folder = join(await temporaryFolder(), "workspace");
  await cp(fileURLToPath(new URL("../../examples/workspace", import.meta.url)), folder, { recursive: true });
  return folder;
}
