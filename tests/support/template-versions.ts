import type { ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import type { Tool } from "../../src/agent/tools/tool.ts";
import type { TemplateConfig, TriplaneConfig } from "../../src/triplane.ts";
import { startTestApp, temporaryFolder, type TestApp, type TestAppOptions } from "./app.ts";
import { connect, type TestClient } from "./client.ts";
import { testDatabaseUrl } from "./database.ts";
import { playedModel, says } from "./models.ts";

type Options = {
  readonly tools?: readonly Tool[];
  readonly overrides?: NonNullable<TestAppOptions["overrides"]>;
  /** Further templates. */
  readonly others?: NonNullable<TriplaneConfig["templates"]>;
  readonly config?: Partial<TriplaneConfig>;
};

export type Version = { readonly digest: string; readonly version: string | null };

type Player = (request: ModelRequest) => AsyncIterable<ModelEvent>;

/** A place for servers of one database, each with a template of its own, and all that their model was asked. */
export async function place(player: Player = () => says("Done.")) {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
  const workspace = await temporaryFolder();
  const model = playedModel(player);
  const start = async (
    template: Partial<TemplateConfig>,
    { tools = [], overrides = {}, others, config }: Options = {},
  ): Promise<{ app: TestApp; client: TestClient }> => {
    const assistant: TemplateConfig = { systemPrompt: "You are tested.", model: "test", selfApproval: true, ...template };
    const app = await startTestApp({
      database,
      model,
      overrides,
      config: {
        workspaceRoots: [workspace],
        defaultWorkspace: workspace,
        tools,
        templates: { assistant, ...others },
        ...config,
      },
    });
    return { app, client: connect(app.url) };
  };
  const systems = () => model.calls.map(({ request }) => request.system);
  return { start, systems, workspace };
}

export async function versionOf(client: TestClient, id: string): Promise<Version | null> {
  const query = "query ($id: ID!) { agent(id: $id) { templateVersion { digest version } } }";
  const { data } = await client.post<{ agent: { templateVersion: Version | null } }>({ query, variables: { id } });
  return data?.agent.templateVersion ?? null;
}
