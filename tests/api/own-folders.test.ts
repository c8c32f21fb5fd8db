import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestApp, temporaryFolder, type TestAppOptions } from "../support/app.ts";
import { CreateAgentDocument } from "../generated/documents.ts";
import { connect } from "../support/client.ts";
import { aroundWrites } from "../support/writes.ts";

type Created = { readonly createAgent: { readonly agent: { readonly id: string; readonly workspace: string } | null } };

/** A server whose agents have folders of their own: what is done around the commits of new agents, and which folders there are. */
async function ownFolders(
  around: (write: () => Promise<unknown[]>, create: () => Promise<unknown>) => Promise<unknown[]>,
  options: TestAppOptions = {},
) {
  const app = await startTestApp({
    ...options,
    config: { defaultWorkspace: undefined as never },
    overrides: {
      sql: (sql) => aroundWrites(sql, ({ kinds }, write) => (kinds.includes("AGENT_CREATED") ? around(write, create) : write())),
    },
  });
  const create = async () =>
    (
      await connect(app.url).post<Created>({
        query: `mutation { createAgent(input: { templateId: "assistant", idempotencyKey: "k" }) { agent { id workspace } } }`,
      })
    ).data?.createAgent.agent;
  return { create, folders: () => readdir(app.services.ownWorkspaces) };
}

describe("the folder of an agent's own", () => {
  it("does not stay if the key was used meanwhile", async () => {
    let isFirst = true;
    const { create, folders } = await ownFolders(async (write, again) => {
      if (isFirst) {
        isFirst = false;
        await again();
      }
      return write();
    });
    const created = await create();
    expect(isFirst).toBe(false);
    expect(await folders()).toEqual([created?.workspace.split("/").at(-1)]);
  });

  it("does not stay if the commit is refused", async () => {
    const refuse = () => Promise.reject(Object.assign(new Error("refused"), { code: "23514" }));
    const { create, folders } = await ownFolders(refuse, { expectsErrors: true });
    expect(await create()).toBeUndefined();
    expect(await folders()).toEqual([]);
  });

  it("stays if the answer of the commit was lost", async () => {
    let isLost = false;
    const { create, folders } = await ownFolders(async (write) => {
      const rows = await write();
      if (isLost) return rows;
      isLost = true;
      throw Object.assign(new Error("Connection terminated unexpectedly"), { code: "08006" });
    });
    expect(await folders().catch(() => [])).toEqual([]);
    const created = await create();
    expect(isLost).toBe(true);
    expect(await folders()).toEqual([created?.workspace.split("/").at(-1)]);
  });
});

describe("a folder that a relative path names", () => {
  it("begins in the first workspace root that has it, then where the server was started, and stays inside of the roots", async () => {
    const start = await temporaryFolder();
    const [first, second] = [join(start, "first"), join(start, "second")];
    for (const folder of ["first/one", "second/one", "second/two/deep", "outside"])
      await mkdir(join(start, folder), { recursive: true });
    const app = await startTestApp({ config: { workspaceRoots: [first, second], defaultWorkspace: first } });
    await symlink(join(first, "one"), join(app.workspace, "linked"));
    const client = connect(app.url);
    const placed = async (workspace: string) => {
      const { createAgent } = await client.get(CreateAgentDocument, { input: { templateId: "assistant", workspace } });
      const { agent } = createAgent;
      if (agent === null) return createAgent.userErrors[0]?.message;
      const { data } = await client.post<{ agent: { workspace: string } }>({
        query: `{ agent(id: "${agent.id}") { workspace } }`,
      });
      return data?.agent.workspace;
    };
    expect(await placed("one")).toBe(join(first, "one"));
    expect(await placed("two/deep")).toBe(join(second, "two/deep"));
    expect(await placed("two")).toBe(join(second, "two"));
    expect(await placed("linked")).toBe(join(first, "one"));
    for (const place of ["outside", "../outside", "one/../../outside", "none"])
      expect(await placed(place), place).toContain("is not a folder inside of the workspace roots");
  });
});
