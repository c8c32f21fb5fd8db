import type { LeaseTimes } from "../../src/agent/loop/lease.ts";
import type { TestApp } from "./app.ts";

/** Leases of which the loss is noticed soon. */
export const SHORT_LEASES: LeaseTimes = { ttlMs: 1_500, renewMs: 100, startMs: 1_000 };

/** As if the holder had died: its lease has run out, and a new epoch has begun. */
export async function loseLeases({ database }: TestApp): Promise<void> {
  const text =
    "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'gone', lease_until = clock_timestamp() - interval '1 s' WHERE lease_owner IS NOT NULL";
  await database.sql.query({ name: "steal", text }, []);
}
