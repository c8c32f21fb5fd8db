import { expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";

type Page = {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly text: string } }[];
  readonly pageInfo: Readonly<Record<"hasNextPage" | "hasPreviousPage", boolean>>;
};

/** An agent with three messages of its conversation, and three that wait to join it. */
async function conversation() {
  const app = await startTestApp();
  const client = connect(app.url);
  const agent = await client.createAgent();
  await app.database.sql.query(
    {
      name: "messages",
      text: `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, arrival, created_at)
        SELECT gen_random_uuid(), 'local', a.id, 'USER', json_build_array(json_build_object('type', 'text', 'text', n::text)), 40,
          CASE WHEN n <= 3 THEN n - 1 END, CASE WHEN n <> 2 THEN 10 + n END, now() FROM agent a, generate_series(1, 6) n`,
    },
    [],
  );
  const page = async (places: string, of = agent.id): Promise<Page> => {
    const selection = "edges { cursor node { text } } pageInfo { hasNextPage hasPreviousPage }";
    const { data, errors } = await client.post<{ agent: { messages: Page } }>({
      query: `{ agent(id: ${JSON.stringify(of)}) { messages(${places}) { ${selection} } } }`,
    });
    if (data === null || errors.length > 0) throw new Error(JSON.stringify(errors));
    return data.agent.messages;
  };
  return { client, page };
}

const texts = ({ edges }: Page): string[] => edges.map(({ node }) => node.text);

it("a conversation is paged in its order, with what waits at the end, forwards and backwards, each message once", async () => {
  const { page } = await conversation();
  for (const size of [1, 2, 4, 6]) {
    const [forwards, backwards]: [string[], string[]] = [[], []];
    let read = await page(`first: ${size}`);
    for (forwards.push(...texts(read)); read.pageInfo.hasNextPage; forwards.push(...texts(read)))
      read = await page(`first: ${size}, after: ${JSON.stringify(read.edges.at(-1)?.cursor)}`);
    expect(forwards).toEqual(["1", "2", "3", "4", "5", "6"]);
    read = await page(`last: ${size}`);
    for (backwards.unshift(...texts(read)); read.pageInfo.hasPreviousPage; backwards.unshift(...texts(read)))
      read = await page(`last: ${size}, before: ${JSON.stringify(read.edges[0]?.cursor)}`);
    expect(backwards).toEqual(forwards);
  }
});

it("a place in another agent's conversation has nothing behind it", async () => {
  const { client, page } = await conversation();
  const other = await client.createAgent();
  const [first] = (await page("first: 1")).edges;
  expect((await page(`first: 2, after: ${JSON.stringify(first?.cursor)}`, other.id)).edges).toEqual([]);
});
