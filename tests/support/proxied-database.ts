import { cuttingProxy, type CuttingProxy } from "./cutting-proxy.ts";
import { testDatabaseUrl } from "./database.ts";

/** A new, migrated database: its own URL, and that of a proxy before it. */
export type ProxiedDatabase = { readonly url: string; readonly proxied: string; readonly proxy: CuttingProxy };

/** Makes a database with a proxy before it. Both end with the test. */
export async function proxiedDatabase(): Promise<ProxiedDatabase> {
  const url = await testDatabaseUrl();
  const proxied = new URL(url);
  const proxy = await cuttingProxy(Number(proxied.port));
  proxied.port = String(proxy.port);
  return { url, proxied: proxied.href, proxy };
}
