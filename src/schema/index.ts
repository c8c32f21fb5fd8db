import { builder } from "./builder.ts";
import "./builder.ts";
import "./actor.ts";
import "./agent.ts";
import "./approvals/allow-always.ts";
import "./approvals/allow-rule.ts";
import "./approvals/approval.ts";
import "./commands/agent.ts";
import "./commands/message.ts";
import "./approvals/decide.ts";
import "./events/approval.ts";
import "./events/block.ts";
import "./approvals/delegation.ts";
import "./events/event.ts";
import "./events/file.ts";
import "./events/manual.ts";
import "./events/todo.ts";
import "./events/tool.ts";
import "./message.ts";
import "./permission.ts";
import "./viewer.ts";
import "./template.ts";
import "./events/tenant.ts";
import "./timeline.ts";
import "./tool-call.ts";
import "./tool-call-statistics.ts";

/** The GraphQL schema. `schema.graphql` is its printed form. */
export const schema = builder.toSchema();
