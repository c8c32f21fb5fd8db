import { builder } from "./builder.ts";
import "./scalars.ts";
import "./actor.ts";
import "./agent.ts";
import "./approvals/allow-rule.ts";
import "./approvals/approval.ts";
import "./approvals/approvals-of-call.ts";
import "./commands/agent.ts";
import "./commands/message.ts";
import "./commands/tool-call.ts";
import "./approvals/decision.ts";
import "./events/approval.ts";
import "./events/block.ts";
import "./approvals/delegation.ts";
import "./events/event.ts";
import "./events/file.ts";
import "./message.ts";
import "./permission.ts";
import "./rate-limit.ts";
import "./template.ts";
import "./events/tenant.ts";
import "./timeline.ts";
import "./tool-call.ts";
import "./tool-call-statistics.ts";
import "./events/tool.ts";
import "./viewer.ts";

/** The GraphQL schema. `schema.graphql` is its printed form. */
export const schema = builder.toSchema();
