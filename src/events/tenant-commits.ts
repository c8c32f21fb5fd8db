import type { TenantChange } from "../db/commit/change.ts";
import { encodeChange } from "../db/commit/parts.ts";
import type { Statement } from "../db/sql.ts";
import { sqlState } from "../db/storage-error.ts";
import { messageOf } from "../lib/text.ts";
import { columns, placedEvent, type EventColumns } from "./agent-events.ts";
import { encodeEvent } from "./codec.ts";
import type { TenantEventDraft, TimelineEvent } from "./event.ts";
import type { TenantOutcome, Write, WriteTries } from "./write.ts";

const COMMIT: Statement<
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
const OF_TENANT = { agentId: null, createdBy: null };

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
      write(tenant, COMMIT, [tenant, tried.id, tried.isLost, json, ...columns(encoded)]),
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
