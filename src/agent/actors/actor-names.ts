import { recentlyUsed } from "../../lib/recently-used.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import { storable } from "../../lib/text.ts";

export type NamedActor = ActorRef & { readonly tenant: string; readonly name: string | null };

const READ: Statement<{ name: string | null }, [tenant: string, kinds: readonly string[], ids: readonly string[]]> = {
  name: "read_actor_names",
  text: `SELECT a.name FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS g(kind, id, place)
    LEFT JOIN actor a ON a.tenant = $1 AND a.kind = g.kind::actor_kind AND a.id = g.id ORDER BY g.place`,
};
const WRITE: Statement<
  object,
  [tenants: readonly string[], kinds: readonly string[], ids: readonly string[], names: readonly string[]]
> = {
  name: "write_actor_names",
  text: `INSERT INTO actor (tenant, kind, id, name)
    SELECT DISTINCT ON (g.tenant, g.kind, g.id) g.tenant, g.kind::actor_kind, g.id, g.name FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS g(tenant, kind, id, name)
    ON CONFLICT (tenant, kind, id) DO UPDATE SET name = excluded.name WHERE actor.erased_at IS NULL AND actor.name IS DISTINCT FROM excluded.name`,
};

const REMEMBERED = 10_000;
const NAME_CHARACTERS = 200;

/** The names of actors of a tenant, in order; null for actors without one. */
export async function readActorNames(
  sql: Pick<Sql, "query">,
  tenant: string,
  actors: readonly ActorRef[],
): Promise<readonly (string | null)[]> {
  const rows = await sql.query(READ, [tenant, actors.map(({ kind }) => kind), actors.map(({ id }) => id)]);
  return rows.map(({ name }) => name);
}

/** Keeps the names of actors in one table: rows and events have only their id and kind. */
export class ActorNames {
  readonly #sql: Sql;
  readonly #written = recentlyUsed<string>(REMEMBERED);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async remember(actors: readonly NamedActor[]): Promise<void> {
    const named = actors.flatMap(({ tenant, kind, id, name }) => (name === null ? [] : [{ tenant, kind, id, name }]));
    const fresh = named.filter((actor) => this.#written.get(keyOf(actor)) !== actor.name);
    if (fresh.length === 0) return;
    await this.#sql.query(WRITE, [
      fresh.map(({ tenant }) => tenant),
      fresh.map(({ kind }) => kind),
      fresh.map(({ id }) => id),
      fresh.map(({ name }) => storable(name).slice(0, NAME_CHARACTERS)),
    ]);
    for (const actor of fresh) this.#written.set(keyOf(actor), actor.name);
  }
}

function keyOf({ tenant, kind, id }: NamedActor): string {
  return JSON.stringify([tenant, kind, id]);
}
