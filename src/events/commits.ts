import type { TenantChange } from "../db/commit/tenant-change.ts";
import type { CommitPlace, ComposedCommit } from "../db/commit/composed-commit.ts";
import { encodeChange } from "../db/commit/parts.ts";
import type { Statement } from "../db/sql.ts";
import { sqlState } from "../db/storage-error.ts";
import { messageOf } from "../lib/text.ts";
import { encodeEvent } from "./codec.ts";
import type { TimelineEvent, TenantEventDraft } from "./event.ts";
import {
  columns,
  placedEvent,
  type EncodedPart,
  type EventColumns,
  type OutsideOutcome,
  type OwnerOutcome,
  type Write,
  type TenantOutcome,
  type WriteTries,
} from "./write.ts";

const COMMIT_AGENT: Statement<
  CommitPlace,
  [
    tenant: string,
    writeId: string,
    isLost: boolean,
    owner: string | null,
    agentId: string,
    epoch: number | null,
    change: string,
    ...EventColumns,
  ]
> = {
  name: "commit_change",
  text: "SELECT base_seq, base_position, signal, ancestors FROM commit_change($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
};

export type AgentCommitServices = Pick<TenantCommitServices, "tries" | "write"> & {
  readonly inTurn: <Result>(agentId: string, work: () => Promise<Result>) => Promise<Result>;
  readonly announce: (events: readonly TimelineEvent[]) => void;
};

export type WrittenChange = { readonly composed: ComposedCommit | null; readonly encoded: () => string };

/**
 * Changes rows of one agent and appends its events, or neither. A refused composed change goes to `commit_change`,
 * which gives the reason. So does one whose answer was lost, since it may have been committed.
 */
export async function commitAgent(
  services: AgentCommitServices,
  tenant: string,
  part: EncodedPart,
  change: WrittenChange,
  write: Write,
): Promise<OwnerOutcome | OutsideOutcome> {
  const commit = async (): Promise<CommitPlace[]> => {
    const placed = write.isLost ? [] : await writeComposed(services, tenant, part, change, write);
    return placed.length > 0 ? placed : writeByFunction(services, tenant, part, change, write);
  };
  try {
    const [place] = await services.tries.untilKnown(tenant, part.fence !== null, write, () =>
      // An owner makes one write at a time; commands may be many, and would lock the same row.
      part.fence === null ? services.inTurn(part.agentId, commit) : commit(),
    );
    if (place === undefined) throw new Error("commit_change answered no row");
    const base = Number(place.base_position);
    const events = part.events.map((event, index) =>
      placedEvent(tenant, { ...part, ancestors: place.ancestors ?? [] }, event, base + index + 1, place.base_seq + index + 1),
    );
    services.announce(events);
    return { outcome: "COMMITTED", events, position: events.at(-1)?.position ?? null, signal: place.signal };
  } catch (error) {
    switch (sqlState(error)) {
      case "TP001":
        return { outcome: "FENCED" };
      case "TP002":
        return { outcome: "CONFLICT", message: messageOf(error) };
      case "TP003":
        return { outcome: "KEY_USED" };
      default:
        throw error;
    }
  }
}

async function writeComposed(
  { write }: AgentCommitServices,
  tenant: string,
  { agentId, fence, events }: EncodedPart,
  { composed }: WrittenChange,
  { id }: Write,
): Promise<CommitPlace[]> {
  if (composed === null || fence === null || events.length === 0) return [];
  const values = [tenant, agentId, fence.owner, fence.epoch, id, ...columns(events), ...composed.values];
  try {
    return await write(tenant, composed.statement, values);
  } catch (error) {
    if (sqlState(error) === "TP005") return [];
    throw error;
  }
}

async function writeByFunction(
  { write }: AgentCommitServices,
  tenant: string,
  { agentId, fence, events }: EncodedPart,
  { encoded }: WrittenChange,
  { id, isLost }: Write,
): Promise<CommitPlace[]> {
  const owner = fence?.owner ?? null;
  const epoch = fence?.epoch ?? null;
  return write(tenant, COMMIT_AGENT, [tenant, id, isLost, owner, agentId, epoch, encoded(), ...columns(events)]);
}

const COMMIT_TENANT: Statement<
  { base_seq: number; base_position: string | number },
  [tenant: string, writeId: string, isLost: boolean, change: string, ...EventColumns]
> = {
  name: "commit_tenant_change",
  text: "SELECT base_seq, base_position FROM commit_tenant_change($1, $2, $3, $4, $5, $6, $7, $8)",
};

export type TenantCommitServices = {
  readonly tries: WriteTries;
  readonly write: <Row, Values extends readonly unknown[]>(
    tenant: string,
    statement: Statement<Row, Values>,
    values: Values,
  ) => Promise<Row[]>;
  readonly announce: (events: readonly TimelineEvent[]) => void;
};

/** Events without an agent: readers restricted to their own agents do not see them. */
const OF_TENANT = { agentId: null, createdBy: null, ancestors: [] };

export async function commitTenant(
  { tries, write, announce }: TenantCommitServices,
  tenant: string,
  drafts: readonly TenantEventDraft[],
  change: TenantChange,
  tried: Write,
): Promise<TenantOutcome> {
  const encoded = drafts.map(encodeEvent);
  const json = encodeChange(change);
  try {
    const [place] = await tries.untilKnown(tenant, false, tried, () =>
      write(tenant, COMMIT_TENANT, [tenant, tried.id, tried.isLost, json, ...columns(encoded)]),
    );
    if (place === undefined) throw new Error("commit_tenant_change answered no row");
    const base = Number(place.base_position);
    const events = encoded.map((event, index) =>
      placedEvent(tenant, OF_TENANT, event, base + index + 1, place.base_seq + index + 1),
    );
    announce(events);
    return { outcome: "COMMITTED", position: events.at(-1)?.position ?? null };
  } catch (error) {
    switch (sqlState(error)) {
      case "TP002":
        return { outcome: "CONFLICT", message: messageOf(error) };
      case "TP003":
        return { outcome: "KEY_USED" };
      default:
        throw error;
    }
  }
}
