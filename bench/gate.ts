import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { confirm } from "../src/agent/calls/stages/confirmation.ts";
import { discover, type Requested, validate } from "../src/agent/calls/stages/validation.ts";
import { format } from "../src/agent/calls/stages/formatting.ts";
import { permit } from "../src/agent/calls/stages/permission.ts";
import { type Policy } from "../src/agent/policy/permission.ts";
import { readPermission } from "../src/agent/policy/permission-source.ts";
import { BUILTIN_TOOLS } from "../src/agent/tools/builtin.ts";
import { Workspace } from "../src/agent/workspace/workspace.ts";
import type { Figure } from "./figure.ts";

const CALLS = 20_000;
const FILES = 100;

/** All stages but execution, without the database: 25 rules, files and links that exist, calls of three parameters, one in ten refused; ms a call. */
export async function gate(): Promise<Figure[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "triplane-bench-")));
  try {
    return await measure(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measure(folder: string): Promise<Figure[]> {
  await mkdir(join(folder, "src/deep"), { recursive: true });
  for (let index = 0; index < FILES; index += 1) {
    await writeFile(join(folder, `src/deep/${index}.ts`), "// TODO");
    await symlink(join(folder, `src/deep/${index}.ts`), join(folder, `src/link-${index}.ts`));
  }
  const tools = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
  const policy = policyOf25Rules(tools);
  const workspace = new Workspace(folder);
  const { signal } = new AbortController();
  const times: number[] = [];
  for (let index = 0; index < CALLS * 1.1; index += 1) {
    const file = index % FILES;
    const path = index % 2 === 0 ? `src/deep/../deep/${file}.ts` : `src/link-${file}.ts`;
    const request: Requested = {
      tenant: "bench",
      agentId: "a",
      callId: String(index),
      name: "fs_read",
      form: "json",
      input: { path: index % 10 === 0 ? "config/.env" : path, offset: 1, limit: 10 },
    };
    const started = performance.now();
    const discovered = discover(request, { all: tools, enabled: tools, has: () => true }, { serverReason: () => null });
    const validated = discovered.ok ? validate(discovered.value) : discovered;
    const permitted = validated.ok
      ? await permit(validated.value, {
          policy,
          askedPolicy: async () => policy,
          hooks: { preToolUse: [] },
          agent: { createdBy: "bench", templateId: "bench" },
          workspace,
          definitionChange: async () => null,
          fromOutside: async () => null,
          signal,
        })
      : validated;
    if (permitted.ok && permitted.value.kind !== "answered") confirm(permitted.value, null, null, folder);
    format({ output: "src/a.ts:1:1: TODO", details: { ok: true } });
    if (index >= CALLS * 0.1) times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  return [
    { name: "gate mean", value: mean, unit: "ms", baseline: null, ratio: null },
    { name: "gate p99", value: times[Math.floor(times.length * 0.99)] ?? 0, unit: "ms", baseline: null, ratio: null },
  ];
}

function policyOf25Rules(tools: ReadonlyMap<string, (typeof BUILTIN_TOOLS)[number]>): Policy {
  const { permission, problems } = readPermission(
    {
      mode: "approval",
      deny: [".env", "*.pem", "*.key", "secrets", "/config/production.json", "id_*", ".git", "*.p12"].flatMap((path) => [
        `fs_read(path:${path})`,
      ]),
      allow: [
        "docs",
        "*.md",
        "examples/**/*.json",
        "src/generated",
        "/package.json",
        "tests/**",
        "src/a*.ts",
        "src/{b,c}*.ts",
      ].map((path) => `fs_read(path:${path})`),
      ask: ["lib", "vendor", "*.lock", "src/db/**", "*.sql", "*.yml", "*.sh", "Dockerfile", "infra/**"].map(
        (path) => `fs_*(path:${path})`,
      ),
    },
    "templates.bench.permission",
    { tools, modes: new Map() },
  );
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return { permission, bounds: [], stored: [], box: null };
}
