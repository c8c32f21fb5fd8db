import { ruleYields, type RuleYield as Yield } from "../../resolvers/groups/rule-yields.ts";
import { MATCHED_CALLS } from "../../agent/calls/audit/rule-matches.ts";
import { selectedBelow } from "../../resolvers/groups/selected.ts";
import { builder } from "../builder.ts";
import { TemplateRule } from "../templates/template.ts";
import { ToolCallFigures } from "./tool-calls.ts";

/** Rules assumed for a template: it may have 300. */
const USUAL_RULES = 50;

/** The price of comparing recorded calls with rules. */
const MATCHES_PRICE = 10;

export const RuleMatches = builder.objectRef<NonNullable<Yield["matches"]>>("RuleMatches").implement({
  description: `Recorded calls that a rule matches, whatever decided them. Covers the newest ${MATCHED_CALLS.toLocaleString("en")} evaluated calls of the range, or fewer if their values exceed 16 MB.`,
  fields: (t) => ({
    examined: t.exposeInt("examined", { description: "Number of calls examined." }),
    erased: t.exposeInt("erased", {
      description:
        "Number of evaluated calls of the range that cannot be compared, since their contents were erased or their agents deleted. The rule may have matched them.",
    }),
    isPartial: t.exposeBoolean("isPartial", { description: "True if older calls of the range were left out." }),
    matched: t.exposeInt("matched", { description: "Number of calls that the rule matches." }),
    against: t.exposeInt("against", {
      description:
        "Number of those calls that ended against the rule. For a deny rule, those that ran: it would deny them. For an allow rule, those that a person denied: it would let them through. For an ask rule, those that ran without a question.",
    }),
  }),
});

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
    matches: t.expose("matches", {
      type: RuleMatches,
      nullable: true,
      complexity: MATCHES_PRICE,
      description: "Recorded calls that the rule matches. Null for rules of hosts.",
    }),
  }),
});

builder.queryField("ruleYields", (t) =>
  t.field({
    type: [RuleYield],
    nullable: true,
    complexity: { field: 500 + USUAL_RULES, multiplier: USUAL_RULES },
    description:
      "Yield of each permission rule of a template, in the order deny, allow, ask, at most 300. Stored rules have theirs in `AllowRule`: `useCount` and `matches`. Null if the template is not configured or the viewer does not read the tenant.",
    args: {
      templateId: t.arg.id({ required: true, description: "`templateId` of the template." }),
      from: t.arg({ type: "DateTime", description: "Calls requested at or after this moment." }),
      to: t.arg({ type: "DateTime", description: "Calls requested before this moment." }),
    },
    resolve: async (_root, { templateId, ...range }, context, info) => {
      const found = await ruleYields(context, templateId, range, { withMatches: selectedBelow(info).has("matches") });
      return found && [...found];
    },
  }),
);
