import type { TestApp } from "./app.ts";

/** The value of a metric of the server now, of one without labels. */
export async function metric({ url }: Pick<TestApp, "url">, name: string): Promise<number> {
  const text = await (await fetch(url.replace("/graphql", "/metrics"))).text();
  return Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
}
