const TENANTS = 4;
const TENANT_MS = 1_000;

/**
 * Runs `work` for each row, sequentially within a tenant, for four tenants at a time. After TENANT_MS a tenant's
 * remaining rows, which may be locked, are left to the next call, so that others do not wait (invariant 13). Returns
 * the rows that were worked on.
 */
export async function eachByTenant<Row extends { readonly tenant: string }>(
  rows: readonly Row[],
  work: (row: Row) => Promise<void>,
): Promise<readonly Row[]> {
  const tenants = [...Map.groupBy(rows, ({ tenant }) => tenant).values()];
  const done: Row[] = [];
  const next = async (): Promise<void> => {
    for (let ofTenant = tenants.shift(); ofTenant !== undefined; ofTenant = tenants.shift()) {
      const began = performance.now();
      for (const row of ofTenant) {
        if (performance.now() - began > TENANT_MS) break;
        await work(row);
        done.push(row);
      }
    }
  };
  await Promise.all(Array.from({ length: TENANTS }, next));
  return done;
}
