import { Registry } from "prom-client";
import { Meters } from "../../src/telemetry/meters.ts";
import { RecentOutputs } from "../../src/agent/budgets/expected.ts";
import { RememberedBudgets } from "../../src/agent/budgets/remembered-budgets.ts";
import { TenantBudgets } from "../../src/agent/budgets/tenant-budgets.ts";
import { ActorNames } from "../../src/agent/actors/actor-names.ts";
import { Manuals } from "../../src/agent/loop/manuals.ts";
import { Images } from "../../src/agent/conversation/images.ts";
import { LateResults } from "../../src/agent/calls/late-results.ts";
import { RememberedHostRules } from "../../src/agent/policy/hosts/remembered-host-rules.ts";
import { ToolOutputs } from "../../src/agent/calls/outputs.ts";
import { ServerShells } from "../../src/agent/calls/shells/server-shells.ts";
import { LEASE_TIMES } from "../../src/agent/loop/lease.ts";
import type { Model } from "../../src/agent/models/model.ts";
import type { AgentServices } from "../../src/agent/loop/scope.ts";
import { RequestRoom, CancelledModelCalls } from "../../src/agent/conversation/request-room.ts";
import { Transcripts } from "../../src/agent/conversation/transcript.ts";
import { ToolSlots } from "../../src/agent/calls/slots.ts";
import type { Tool } from "../../src/agent/tools/tool.ts";
import { ShapeChecks } from "../../src/agent/tools/shapes/shape-checks.ts";
import { ToolRegistry } from "../../src/agent/tools/tool-registry.ts";
import { NO_SKEW } from "../../src/db/database-clock.ts";
import type { Sql } from "../../src/db/sql.ts";
import { Appender } from "../../src/events/appender.ts";
import { silentBell } from "../../src/events/bell/bell.ts";
import { EventLog } from "../../src/events/log.ts";
import { systemClock } from "../../src/lib/time.ts";
import { AnsweringFolders } from "../../src/agent/workspace/answering-folders.ts";
import { ProcessGroups } from "../../src/agent/workspace/process-groups.ts";
import { Homes } from "../../src/agent/workspace/homes.ts";
import { CoveredPaths } from "../../src/agent/workspace/sandbox/covered-paths.ts";
import { unboxed } from "../../src/agent/workspace/sandbox/unboxed.ts";
import { RecentResults } from "../../src/agent/calls/results/result-cache.ts";
import { FileWatches, RememberedFiles } from "../../src/agent/workspace/changes/file-watches.ts";
import { RecentContents } from "../../src/agent/workspace/known-files.ts";
import { HOLDS_NONE, NO_PROCESSES } from "./mcp.ts";
import { silentLogger } from "./silent-logger.ts";
import { testTemplate } from "./template.ts";

/** What agents of one node named "here" are advanced with, for tests that advance them themselves. */
export function testServices(
  sql: Sql,
  model: Model,
  tools: readonly Tool[] = [],
  template: Partial<ReturnType<typeof testTemplate>> = {},
): AgentServices {
  const log = new EventLog(sql);
  const images = new Images();
  const groups = new ProcessGroups();
  const homes = new Homes("/nowhere");
  const sandboxes = { none: unboxed(groups), box: null };
  const coveredPaths = new CoveredPaths();
  const folders = new AnsweringFolders();
  const rememberedBudgets = new RememberedBudgets(sql, systemClock);
  const outputs = new ToolOutputs("/nowhere");
  const shared = {
    serverId: "here",
    sql,
    leases: sql,
    log,
    clock: systemClock,
    logger: silentLogger,
    leaseTimes: LEASE_TIMES,
    programMs: Infinity,
    mcpProcesses: { held: HOLDS_NONE, ...NO_PROCESSES },
  };
  return {
    ...shared,
    version: { version: "0.0.0", commit: null },
    meters: new Meters(new Registry()),
    reads: sql,
    knownParts: null,
    clockSkew: () => NO_SKEW,
    compareClocks: async () => {},
    decidersOf: () => null,
    appender: new Appender(log),
    bell: silentBell(),
    templates: new Map([["assistant", { ...testTemplate(), ...template }]]),
    models: new Map([["test", model]]),
    modes: new Map(),
    hasModel: () => true,
    modelOfTemplate: () => "test",
    heldTemplate: async () => ({ ...testTemplate(), ...template }),
    agentHooks: new Map(),
    agentLimit: 100,
    hasSeveralTenants: false,
    slots: new ToolSlots({ running: 8, waiting: 0, waitMs: 1 }),
    outputs,
    lateResults: new LateResults(silentLogger),
    shapes: new ShapeChecks(),
    cancelledModelCalls: new CancelledModelCalls(silentLogger),
    images,
    transcripts: new Transcripts(images),
    manuals: new Manuals(sql),
    rememberedBudgets,
    budgets: new TenantBudgets([], rememberedBudgets),
    recentOutputs: new RecentOutputs(),
    rememberedFiles: new RememberedFiles(),
    fileWatches: new FileWatches(silentLogger),
    requests: new RequestRoom(),
    groups,
    homes,
    contents: new RecentContents(),
    results: new RecentResults(),
    sandboxes,
    coveredPaths,
    folders,
    listedHosts: null,
    hostRules: new RememberedHostRules(sql, systemClock),
    askInBackground: async () => "left out",
    shells: new ServerShells({ homes, coveredPaths, folders, listedHosts: null, ...shared, outputs }),
    actorNames: new ActorNames(sql),
    callTokens: { of: ({ callId }) => `token of ${callId}` },
    closedFolders: [],
    tools: new ToolRegistry(tools),
    mcpServers: new Map(),
    workspaceRoots: null,
    folder: "/tmp",
    defaultWorkspace: "/tmp",
    ownWorkspaces: "/nowhere",
  };
}
