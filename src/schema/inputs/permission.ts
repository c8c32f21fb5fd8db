import type { PermissionSource } from "../../agent/policy/permission-source.ts";
import { builder } from "../builder.ts";

/** A permission block as clients write it. */
export const PermissionInput = builder.inputType("PermissionInput", {
  description: "A permission block, as in the configuration: docs/permissions.md.",
  fields: (t) => ({
    mode: t.string({ description: "auto, approval (ask), readonly, deny, default, or one of the configuration's own." }),
    deny: t.stringList({ description: "Rules such as fs_read(path:.env): what they match is denied." }),
    allow: t.stringList({ description: "Rules: what they match runs without asking, unless it is denied." }),
    ask: t.stringList({ description: "Rules: what they match is asked for, unless it is denied or allowed." }),
    allowTools: t.stringList({ description: "If given, every other tool is denied." }),
    denyTools: t.stringList({ description: "These tools are denied." }),
    autoAllowTools: t.stringList({ description: "These tools run without asking, unless they are denied." }),
    autoAllowInBox: t.stringList({
      description: "These tools run without asking, unless they are denied, if the agent's programs run in a box.",
    }),
    requireApprovalTools: t.stringList({ description: "These tools are asked for, unless they are denied or allowed." }),
    readOnlyCommands: t.boolean({ description: "True if command lines that are known to only read run without asking." }),
  }),
});

/** The block without what the client left out. */
export function permissionSource(input: (typeof PermissionInput)["$inferInput"]): PermissionSource {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}
