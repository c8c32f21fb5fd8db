import { expect, it } from "vitest";
import type { Sql, Statement } from "../../src/db/sql.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";

type Titled = { readonly title: string; readonly cursor: string };

it.each(["agent(id: $id)", "node(id: $id)", "nodes(ids: [$id])"])(
  "%s answers rows that are as new as its cursor: what happens just before the cursor is read is in them",
  async (field) => {
    let client: TestClient | null = null;
    let isWaiting = false;
    const rename = async (agentId: string): Promise<void> => {
      const query = 'mutation($id: ID!) { renameAgent(input: { agentId: $id, title: "new" }) { userErrors { code } } }';
      expect((await (client as TestClient).post({ query, variables: { id: agentId } })).errors).toEqual([]);
    };
    let agentId = "";
    const app = await startTestApp({
      overrides: {
        sql: (sql): Sql => ({
          ...sql,
          query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
            if (isWaiting && statement.name === "read_head") {
              isWaiting = false;
              await rename(agentId);
            }
            return sql.query(statement, values);
          },
        }),
      },
    });
    client = connect(app.url);
    agentId = (await client.createAgent({ title: "old" })).id;
    isWaiting = true;
    const query = `query($id: ID!) { found: ${field} { ... on Agent { title cursor } } }`;
    const { data } = await client.post<{ found: Titled | readonly Titled[] }>({ query, variables: { id: agentId } });
    expect(isWaiting).toBe(false);
    expect([data?.found].flat()).toMatchObject([{ title: "new" }]);
  },
);
