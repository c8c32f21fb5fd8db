import type { Json } from "../../lib/json.ts";
import type { Prisma } from "../generated/client.ts";
import type { ActorKind } from "../generated/enums.ts";
import type { WaitRow } from "./change.ts";
import type { ExportEnd, NewExport } from "./export-rows.ts";
import type { MemoryChange } from "./memory-change.ts";
import type { Row } from "./row.ts";

/** The actor who took something back, and when. */
type Revocation = { readonly revokedAt: Date; readonly revokedBy: string; readonly revokedByKind: ActorKind };

/** All that may change of a tenant in one commit, its agents excepted, with the events that report it. Each part is refused if its row is not as it expects. */
export type TenantChange = {
  readonly idempotencyKey?: Row<Prisma.IdempotencyKeyUncheckedCreateInput>;
  /** Refused if the same rule holds already. */
  readonly storeAllowRule?: Row<Prisma.AllowRuleUncheckedCreateInput>;
  /** With `storeAllowRule`: the most rules that may hold for its template then. Refused if there are more. */
  readonly mostAllowRules?: number;
  /** Refused if the rule has ended before. One that expires is revoked by no actor. It ends before `storeAllowRule` is stored. */
  readonly revokeAllowRule?: { readonly id: string; readonly revokedAt: Date } & (Revocation | object);
  readonly startDelegation?: Row<Prisma.DelegationUncheckedCreateInput>;
  /** With `startDelegation`, `storeAllowRule` and `createExport`: the wait for its time. */
  readonly waits?: readonly WaitRow[];
  /** Refused if it has ended before. Nobody revoked one whose time is up. */
  readonly endDelegation?: { readonly id: string; readonly endedAt: Date } & (Revocation | object);
  /** The definition of an MCP server's tool that holds from now on. Refused if it holds already. */
  readonly acceptTool?: Row<Prisma.ToolPinUncheckedCreateInput>;
  readonly memory?: MemoryChange;
  /** Its limits take the place of those of the same budget. Refused if they hold already. */
  readonly setBudget?: Row<Omit<Prisma.BudgetUncheckedCreateInput, "millionths" | "tokens">> & {
    readonly millionths: number | null;
    readonly tokens: number | null;
  };
  /** Refused if the budget was revoked before. */
  readonly revokeBudget?: { readonly id: string } & Revocation;
  readonly createAccessToken?: Row<Omit<Prisma.AccessTokenUncheckedCreateInput, "roles">> & { readonly roles: readonly string[] };
  /** With `createAccessToken`: the most valid tokens that its person may have then. Refused if there are more. */
  readonly mostAccessTokens?: number;
  /** Ends the sessions that began with it, too. Refused if the token was revoked before. */
  readonly revokeAccessToken?: { readonly id: string } & Revocation;
  /** Takes the place of the person's former snooze. Refused if the approval is closed. */
  readonly snooze?: Row<Prisma.ApprovalSnoozeUncheckedCreateInput>;
  /** Refused if the person has no snooze of the approval. */
  readonly wakeApproval?: { readonly approvalId: string; readonly actorId: string };
  /** Its wait is with it. */
  readonly createExport?: NewExport;
  /** With `createExport`: the most exports of the tenant that may be made then. Refused if there are more. */
  readonly mostExports?: number;
  readonly endExport?: ExportEnd;
  /**
   * The tree of the agent `rootId`, with its number of agents. Refused unless all are archived and idle, and the audit has
   * seen their last events.
   */
  readonly deleteAgent?: {
    readonly rootId: string;
    readonly agents: number;
    readonly deletedBy: string;
    readonly deletedByKind: ActorKind;
    readonly deletedAt: Date;
  };
  /** Refused if another configuration than the previous one is known by now. */
  readonly configuration?: {
    readonly previousDigest: string;
    readonly digest: string;
    readonly parts: Json;
    readonly knownAt: Date;
  };
};
