import { ruleYields, type RuleYield as Yield } from "../../resolvers/groups/rule-yields.ts";
import { builder } from "../builder.ts";
import { TemplateRule } from "../templates/template.ts";
import { ToolCallFigures } from "./tool-calls.ts";

/** Rules assumed for a template: it may have 300. */
const USUAL_RULES = 50;

const RuleYield = builder.objectRef<Yield>("RuleYield").implement({
  description: "A rule of a template, and the calls that it decided.",
  fields: (t) => ({
    rule: t.expose("rule", { type: TemplateRule, description: "The rule." }),
    figures: t.expose("figures", {
      type: ToolCallFigures,
      nullable: true,
      complexity: 0,
      description:
        "Figures of calls decided by a rule of this list and text, wherever it stood. `executed` are those that it let through, `calls` is 0 for a rule that was never used. Null for rules of hosts.",
    }),
  }),
});

builder.queryField("ruleYields", (t) =>
  t.field({
    type: [RuleYield],
    nullable: true,
    complexity: { field: 500 + USUAL_RULES, multiplier: USUAL_RULES },
    description:
      "Yield of each permission rule of a template, in the order deny, allow, ask, at most 300. Stored rules have theirs in `AllowRule`. Null if the template is not configured or the viewer does not read the tenant.",
    args: {
      templateId: t.arg.id({ required: true, description: "`templateId` of the template." }),
      from: t.arg({ type: "DateTime", description: "Calls requested at or after this moment." }),
      to: t.arg({ type: "DateTime", description: "Calls requested before this moment." }),
    },
    resolve: async (_root, { templateId, ...range }, context) => {
      const found = await ruleYields(context, templateId, range);
      return found && [...found];
    },
  }),
);
