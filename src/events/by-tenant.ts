/** The tenants that are looked after at a time. */
const TENANTS = 4;
/** The time for which one tenant is looked after at once, in ms. */
const TENANT_MS = 1_000;

/**
 * Does `work` for each of the rows, one after the other in a tenant, and four tenants at a time. Those of a tenant that takes long,
 * since its rows are locked, are left to the next time: others do not wait for them (invariant 13). Gives the rows that were worked on.
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
