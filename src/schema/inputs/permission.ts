import type { PermissionSource } from "../../agent/policy/permission-source.ts";
import { builder } from "../builder.ts";

export const PermissionInput = builder.inputType("PermissionInput", {
  description: "A permission block, as in the configuration. See docs/permissions.md.",
  fields: (t) => ({
    mode: t.string({
      description:
        "Verdict on calls that no rule or list decides: `auto`, `approval` (or `ask`), `readonly`, `deny`, `default`, or a mode of the configuration. If omitted: `auto` with TIGHTEN, else `default`.",
    }),
    deny: t.stringList({ description: "Rules such as `fs_read(path:.env)`. Matching calls are denied." }),
    allow: t.stringList({ description: "Rules. Matching calls run without asking, unless they are denied." }),
    ask: t.stringList({ description: "Rules. Matching calls need approval, unless they are denied or allowed." }),
    allowTools: t.stringList({ description: "Names of tools. If given, all other tools are denied." }),
    denyTools: t.stringList({ description: "Names of tools that are denied." }),
    autoAllowTools: t.stringList({ description: "Names of tools that run without asking, unless they are denied." }),
    autoAllowInBox: t.stringList({
      description: "Names of tools that run without asking, unless they are denied, if the agent's programs run in a sandbox.",
    }),
    requireApprovalTools: t.stringList({ description: "Names of tools that need approval, unless they are denied or allowed." }),
    readOnlyCommands: t.boolean({
      description: "True to run command lines without asking if they are known to only read. False if omitted.",
    }),
  }),
});

/** The block without omitted fields. */
export function permissionSource(input: (typeof PermissionInput)["$inferInput"]): PermissionSource {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}
