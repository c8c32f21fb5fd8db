import { confirm } from "../src/agent/gate/confirmation.ts";
import { discover, type Requested } from "../src/agent/gate/discovery.ts";
import { format } from "../src/agent/gate/formatting.ts";
import { permit } from "../src/agent/gate/permission.ts";
import { validate } from "../src/agent/gate/validation.ts";
import type { Permission } from "../src/agent/template.ts";
import { BUILTIN_TOOLS } from "../src/agent/tools/builtin.ts";
import type { Figure } from "./main.ts";

const CALLS = 20_000;
const PERMISSION: Permission = {
  mode: "approval",
  allowTools: null,
  denyTools: ["fs_write"],
  autoAllowTools: ["fs_grep"],
  requireApprovalTools: [],
};

/** All stages but execution, without the database: calls of three parameters, one in ten refused; ms a call. */
export async function gate(): Promise<Figure[]> {
  const tools = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
  const times: number[] = [];
  for (let index = 0; index < CALLS * 1.1; index += 1) {
    const isRefused = index % 10 === 0;
    const request: Requested = {
      tenant: "bench",
      agentId: "a",
      callId: String(index),
      name: "fs_grep",
      form: "json",
      input: isRefused ? { pattern: 7 } : { pattern: "TODO", path: `src/${index}.ts`, max_results: 10 },
    };
    const started = performance.now();
    const discovered = discover(request, { all: tools, enabled: tools });
    const validated = discovered.ok ? validate(discovered.value) : discovered;
    const permitted = validated.ok
      ? await permit(validated.value, PERMISSION, { preToolUse: [], postToolUse: [] }, new AbortController().signal)
      : validated;
    if (permitted.ok && permitted.value.kind !== "answered") confirm(permitted.value, null, "/srv/workspace");
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
