import { acceptTool, toolNamed } from "../../resolvers/tool-pin.ts";
import { builder } from "../builder.ts";
import { payloadType } from "../payload.ts";
import { Tool } from "../templates/template.ts";

const AcceptToolInput = builder.inputType("AcceptToolInput", {
  description: "Input of `acceptTool`.",
  fields: (t) => ({
    name: t.string({ required: true, description: "Name of the tool, for example `mcp__github__create_issue`." }),
    digest: t.string({ required: true, description: "`change.digest` of the tool: the definition that the viewer has seen." }),
  }),
});

builder.mutationField("acceptTool", (t) =>
  t.field({
    type: payloadType("AcceptToolPayload", (fields) => ({
      tool: fields.field({
        type: Tool,
        nullable: true,
        description: "The tool. Null if the mutation failed.",
        resolve: ({ rowId }, _args, context) => toolNamed(context, rowId),
      }),
    })),
    description:
      "Accepts the present definition of an MCP server's tool: allow rules apply to it again, on all servers. FORBIDDEN for viewers who are not administrators. INVALID if the tool has another definition by now.",
    args: { input: t.arg({ type: AcceptToolInput, required: true, description: "Tool and definition." }) },
    resolve: (_root, { input }, context) => acceptTool(context, input),
  }),
);
