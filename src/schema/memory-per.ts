import type { MemorySettings } from "../agent/calls/memory/memory-rows.ts";
import { builder, describedLower } from "./builder.ts";

export const MemoryPer = builder.enumType("MemoryPer", {
  description: "Agents of a template that share a memory.",
  values: describedLower<MemorySettings["per"]>({
    requester: "Those of one requester, with the agents below them.",
    template: "All agents of the template.",
  }),
});
