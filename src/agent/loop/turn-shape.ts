import type { MessageShape, ShapeProblem } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Answer } from "../conversation/answer.ts";
import { readAnswer } from "../tools/shapes/answer-value.ts";
import type { AgentServices, Template } from "./scope.ts";
import { isFinalAnswer } from "./commits/answered.ts";
import type { ShapedAnswer } from "./commits/shapes.ts";
import type { AgentView } from "./view.ts";

const READ: Statement<{ shape: MessageShape | null }, [messageId: string]> = {
  name: "read_asked_shape",
  text: "SELECT shape FROM message WHERE id = $1",
};

/** The schema that the last answer of a turn must have: that of its newest message with one, otherwise the template's. */
export class TurnShape {
  readonly #sql: Sql;
  readonly #checks: AgentServices["shapes"];
  #read: { readonly by: string; readonly schema: JsonObject | null } | null = null;

  constructor({ sql, shapes }: Pick<AgentServices, "sql" | "shapes">) {
    this.#sql = sql;
    this.#checks = shapes;
  }

  /** Null for any text. */
  async of(
    { shape: { by } }: Pick<AgentView, "shape">,
    { outputSchema }: Pick<Template, "outputSchema">,
  ): Promise<JsonObject | null> {
    if (by === null) return outputSchema;
    if (this.#read?.by !== by) {
      const [row] = await this.#sql.query(READ, [by]);
      this.#read = { by, schema: row?.shape?.kind === "ASKED" ? row.shape.schema : null };
    }
    return this.#read.schema ?? outputSchema;
  }

  /** The check of an answer; null without a shape, and for an answer that does not end the turn. */
  async check(view: AgentView, template: Template, answer: Answer): Promise<ShapedAnswer | null> {
    const schema = isFinalAnswer(answer) ? await this.of(view, template) : null;
    if (schema === null) return null;
    if (answer.stopReason === "max_tokens") return { kind: "failed", failure: "max_tokens", problems: [] };
    const read = readAnswer(answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
    if ("problem" in read) return misfit(view, template, [read.problem]);
    const problems = await this.#checks.misfits(schema, read.value);
    return problems.length === 0 ? { kind: "fits", value: read.value } : misfit(view, template, problems);
  }
}

function misfit({ shape }: AgentView, { corrections }: Template, problems: readonly ShapeProblem[]): ShapedAnswer {
  if (shape.corrections < corrections) return { kind: "misfit", problems, corrections };
  return { kind: "failed", failure: "invalid", problems };
}
