import type { ExportFormat, ExportState, ExportSubject } from "../db/commit/export-rows.ts";
import type { BudgetChangeEvent } from "./budgets/budget-event.ts";
import type { MemoryEvent } from "./memory-event.ts";
import type { ActorRef } from "./snapshots.ts";

/** A stored allow rule when the event was committed, with its scope. Times are ISO 8601. */
export type AllowRuleSnapshot = {
  readonly allowRuleId: string;
  readonly rule: string;
  readonly templateId: string;
  /** The only agent for which it holds; null for all agents of the template. */
  readonly agentId: string | null;
  readonly approvalId: string;
  readonly note: string | null;
  readonly createdBy: ActorRef;
  readonly createdAt: string;
  /** The first moment at which it no longer holds; null for no end. */
  readonly expiresAt: string | null;
};

/** A tool of an MCP server, and the digests of its definitions: the one that held before, or null, and the accepted one. */
export type AcceptedTool = {
  readonly tool: string;
  readonly server: string;
  readonly previousDigest: string | null;
  readonly digest: string;
};

/** Times are ISO 8601. */
export type DelegationSnapshot = {
  readonly delegationId: string;
  readonly from: ActorRef;
  readonly to: ActorRef;
  readonly note: string | null;
  readonly startsAt: string;
  readonly endsAt: string;
};

/** An access token when the event was committed, without its secret. Times are ISO 8601. */
export type AccessTokenSnapshot = {
  readonly accessTokenId: string;
  readonly name: string;
  readonly owner: ActorRef;
  readonly roles: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string;
};

/** An export when the event was committed. */
export type ExportSnapshot = {
  readonly exportId: string;
  readonly what: ExportSubject;
  readonly format: ExportFormat;
  /** True if it has texts. */
  readonly hasTexts: boolean;
  readonly state: ExportState;
  /** The rows of its file. */
  readonly rows: number;
  readonly createdBy: ActorRef;
};

/** The most agents that an event names. */
export const MOST_NAMED_AGENTS = 500;

/** A tree of agents that was deleted: the first agent, and the number of rows that go. */
export type DeletedAgentSnapshot = {
  readonly deletedAgentId: string;
  readonly templateId: string;
  readonly createdBy: ActorRef;
  /** The agents of the tree, that one included; at most MOST_NAMED_AGENTS. */
  readonly agentIds: readonly string[];
  readonly agentCount: number;
  readonly messageCount: number;
  readonly stepCount: number;
};

export const CONFIGURATION_CHANGES = ["ADDED", "CHANGED", "REMOVED"] as const;
export type ConfigurationChange = {
  readonly part: string;
  readonly change: (typeof CONFIGURATION_CHANGES)[number];
};

/**
 * The body of an event of the tenant itself, by kind. It states the whole change and its actor, so that the log alone
 * tells it (invariant 15).
 */
export type TenantEventBody =
  | { readonly kind: "ALLOW_RULE_STORED"; readonly rule: AllowRuleSnapshot; readonly changedBy: ActorRef }
  | { readonly kind: "ALLOW_RULE_REVOKED"; readonly rule: AllowRuleSnapshot; readonly changedBy: ActorRef }
  | { readonly kind: "DELEGATION_STARTED"; readonly grant: DelegationSnapshot; readonly changedBy: ActorRef }
  | { readonly kind: "DELEGATION_ENDED"; readonly grant: DelegationSnapshot; readonly changedBy: ActorRef }
  | { readonly kind: "ACCESS_TOKEN_CREATED"; readonly accessToken: AccessTokenSnapshot; readonly changedBy: ActorRef }
  | { readonly kind: "ACCESS_TOKEN_REVOKED"; readonly accessToken: AccessTokenSnapshot; readonly changedBy: ActorRef }
  | {
      readonly kind: "SNOOZE_CHANGED";
      readonly approvalId: string;
      readonly isSnoozed: boolean;
      /** The time at which it returns, ISO 8601; null for none. */
      readonly until: string | null;
      readonly changedBy: ActorRef;
    }
  | (DeletedAgentSnapshot & { readonly kind: "AGENT_DELETED"; readonly changedBy: ActorRef })
  | { readonly kind: "EXPORT_CREATED"; readonly exported: ExportSnapshot; readonly changedBy: ActorRef }
  | { readonly kind: "EXPORT_ENDED"; readonly exported: ExportSnapshot; readonly changedBy: ActorRef }
  | MemoryEvent
  | BudgetChangeEvent
  | (AcceptedTool & { readonly kind: "TOOL_ACCEPTED"; readonly changedBy: ActorRef })
  | {
      readonly kind: "CONFIGURATION_CHANGED";
      readonly previousDigest: string;
      readonly digest: string;
      /** The changed parts by name, as many as fit into an event. */
      readonly changes: readonly ConfigurationChange[];
      readonly changeCount: number;
      readonly changedBy: ActorRef;
    };

/** Kinds of events that only the actor sees who caused them, and only where a reader names the kind. */
export const PRIVATE_KINDS = ["SNOOZE_CHANGED"] as const satisfies readonly TenantEventBody["kind"][];
export type PrivateKind = (typeof PRIVATE_KINDS)[number];

export const TENANT_CHANNELS = {
  ALLOW_RULE_STORED: "MONITOR",
  ALLOW_RULE_REVOKED: "MONITOR",
  DELEGATION_STARTED: "MONITOR",
  DELEGATION_ENDED: "MONITOR",
  TOOL_ACCEPTED: "MONITOR",
  AGENT_DELETED: "MONITOR",
  ACCESS_TOKEN_CREATED: "MONITOR",
  ACCESS_TOKEN_REVOKED: "MONITOR",
  EXPORT_CREATED: "MONITOR",
  EXPORT_ENDED: "MONITOR",
  CONFIGURATION_CHANGED: "MONITOR",
  SNOOZE_CHANGED: "CONTROL",
} as const;
