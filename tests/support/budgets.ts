import { expect } from "vitest";
import { NO_TOKENS, type Model, type ModelEvent } from "../../src/agent/models/model.ts";
import type { TemplateConfig, TriplaneConfig } from "../../src/triplane.ts";
import type { Overrides } from "../../src/app.ts";
import { NEIGHBOURS, tokenActor } from "./actors.ts";
import { startTestApp } from "./app.ts";
import { connect, type TestClient } from "./client.ts";
import { playedModel } from "./models.ts";

/** A step of 1,000 tokens costs ten cents. */
export const PRICE = { input: 100, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Says a word, for 1,000 tokens of input and 100 of output. */
export async function* spends(): AsyncGenerator<ModelEvent> {
  yield { type: "text_start", block: 0 };
  yield { type: "text_delta", block: 0, text: "Yes." };
  yield { type: "end", stopReason: "end_turn", usage: { ...NO_TOKENS, inputTokens: 1_000, outputTokens: 100 } };
}

export type Spending = { readonly spent: number; readonly held: number; readonly tokens: number };

const SPENDING = {
  name: "spending_of_test",
  text: `SELECT coalesce(sum(spent_millionths), 0)::float8 AS spent, coalesce(sum(held_millionths + held_tokens), 0)::float8 + (SELECT count(*) FROM budget_hold) AS held, coalesce(sum(spent_tokens), 0)::float8 AS tokens FROM budget_period`,
} as const;

/** A tenant with administrators, approvers and users, and a template without tools. */
export async function budgetOffice(
  options: {
    readonly model?: Model;
    readonly template?: Partial<TemplateConfig>;
    readonly config?: Partial<TriplaneConfig>;
    readonly overrides?: Overrides;
  } = {},
) {
  const app = await startTestApp({
    model: options.model ?? { ...playedModel(spends), price: PRICE },
    config: { actors: [...(NEIGHBOURS.actors ?? []), tokenActor("ada", ["admin"]).actor], ...options.config },
    template: { tools: [], selfApproval: false, ...options.template },
    ...(options.overrides === undefined ? {} : { overrides: options.overrides }),
  });
  const as = (who: string): TestClient => connect(app.url, `${who}-token`);
  const mutate = async (who: string, name: string, input: object): Promise<{ code: string; field: string[] | null }[]> => {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation($input: ${type}!) { ${name}(input: $input) { userErrors { code field message } } }`;
    const { data, errors } = await as(who).post<Record<string, { userErrors: { code: string; field: string[] | null }[] }>>({
      query,
      variables: { input },
    });
    expect(errors).toEqual([]);
    return data?.[name]?.userErrors ?? [];
  };
  /** What is spent and held on all budgets together. Money is in millionths. */
  const spending = async (): Promise<Spending> => {
    const [row] = await app.database.sql.query<Spending, []>(SPENDING, []);
    if (row === undefined) throw new Error("sums have a row");
    return row;
  };
  return { app, as, mutate, spending };
}
