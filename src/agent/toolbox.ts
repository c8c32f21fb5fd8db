import type { Toolbox } from "./gate/discovery.ts";
import type { Template } from "./template.ts";
import type { Tool } from "./tools/tool.ts";

/** The tools of the server, and those of them that a template's agents have. */
export function toolboxOf(all: ReadonlyMap<string, Tool>, template: Template): Toolbox {
  const names = template.tools;
  return { all, enabled: names === null ? all : new Map([...all].filter(([name]) => names.includes(name))) };
}
