import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { freePort } from "../support/free-port.ts";
import { metricsText } from "../support/metrics.ts";
import { runProgram } from "../support/process.ts";

const ALARMS = resolve(import.meta.dirname, "../../docs/prometheus/alarms.yml");
/** Debian's package has it; continuous integration does not go without. */
const hasNoPrometheus = !existsSync("/usr/bin/prometheus") && process.env["CI"] === undefined;

type Rule = { readonly name: string; readonly health: string; readonly state: string; readonly lastError?: string };

/** What a Prometheus on this machine answers to a question of its API. */
async function askPrometheus<Data>(port: number, path: string): Promise<Data> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
  const { data } = (await answer.json()) as { readonly data: Data };
  return data;
}

it.skipIf(hasNoPrometheus)("Prometheus takes the metrics, and the alarms of docs/prometheus, of which one rings", async () => {
  let lost = 0;
  const app = await startTestApp({ overrides: { lostLogLines: () => lost } });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.turn(agent.id, "hello");

  const check = runProgram("promtool", ["check", "metrics"]);
  check.child.stdin?.end(await metricsText(app.url));
  expect(await check.exited, check.output()).toBe(0);
  expect(check.output()).toBe("");

  const folder = await temporaryFolder();
  const port = await freePort();
  await writeFile(
    join(folder, "prometheus.yml"),
    JSON.stringify({
      global: { scrape_interval: "200ms", scrape_timeout: "200ms", evaluation_interval: "200ms" },
      rule_files: [ALARMS],
      scrape_configs: [{ job_name: "triplane", static_configs: [{ targets: [new URL(app.url).host] }] }],
    }),
  );
  const prometheus = runProgram("prometheus", [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  await prometheus.says("Server is ready to receive web requests");
  const rules = async (): Promise<readonly Rule[]> => {
    const { groups } = await askPrometheus<{ groups: readonly { rules: readonly Rule[] }[] }>(port, "rules");
    return groups.flatMap((group) => group.rules);
  };
  await expect.poll(async () => (await rules()).map(({ health, lastError }) => lastError ?? health)).toContain("ok");
  await expect.poll(async () => (await rules()).every(({ health }) => health === "ok")).toBe(true);

  // No alarm is about a figure that there is not: it would never ring.
  const expressions = [...(await readFile(ALARMS, "utf8")).matchAll(/^\s+expr: (?:>-\n)?((?:.+\n)+?)\s+(?:for|annotations):/gm)];
  const names = new Set(expressions.flatMap(([, text = ""]) => text.match(/\b(?:triplane_\w+|up)\b/g) ?? []));
  expect(names.size).toBeGreaterThan(15);
  for (const name of names) {
    const series = (): Promise<readonly unknown[]> => askPrometheus(port, `series?match[]=${name}`);
    // Where no model has a price, there is no cost.
    if (name !== "triplane_model_cost_usd_total") await expect.poll(series, { message: name }).not.toEqual([]);
  }

  const ringing = async (): Promise<readonly string[]> =>
    (await rules()).filter(({ state }) => state === "firing").map(({ name }) => name);
  expect(await ringing()).toEqual([]);
  lost = 5;
  await expect.poll(ringing).toEqual(["TriplaneLogLinesLost"]);
});
