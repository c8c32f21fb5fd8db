import type { Environment } from "../src/config/environment.ts";

/** The environment of a server that is measured: a free port, this database and folder, and perhaps a provider's address. */
export function benchEnvironment(
  url: string,
  folder: string,
  { connections = 10, provider = null }: { readonly connections?: number; readonly provider?: string | null } = {},
): Environment {
  return {
    port: 0,
    host: "127.0.0.1",
    database: { kind: "postgres", url, connections },
    dataFolder: folder,
    programsFolder: folder,
    configPath: "bench",
    folder,
    anthropic: provider === null ? null : { apiKey: "bench", baseUrl: provider },
    openai: null,
  };
}
