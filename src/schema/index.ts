import { builder } from "./builder.ts";
import "./scalars.ts";
import "./agent.ts";
import "./allow-rule.ts";
import "./approval.ts";
import "./approval-event.ts";
import "./delegation.ts";
import "./event.ts";
import "./message.ts";
import "./permission.ts";
import "./timeline.ts";
import "./tool-call.ts";
import "./tool-event.ts";

/** The GraphQL schema. `schema.graphql` is its printed form. */
export const schema = builder.toSchema();
