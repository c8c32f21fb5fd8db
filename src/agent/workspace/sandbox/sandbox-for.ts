import type { Sandbox } from "./sandbox.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

export type SandboxDemand = "none" | "required";

export type Sandboxes = { readonly none: Sandbox; readonly box: Sandbox | null };

/** The sandbox for programs of this template's agents. Without boxes, a template that requires one starts no programs. */
export function sandboxFor({ none, box }: Sandboxes, { sandbox }: { readonly sandbox: SandboxDemand }): Sandbox {
  switch (sandbox) {
    case "none":
      return none;
    case "required":
      return box ?? NO_BOX;
  }
}

const NO_BOX: Sandbox = {
  kind: "bubblewrap",
  start: () =>
    Promise.reject(
      new SandboxRefused("programs of this agent run in a box only, and this server makes none: install bubblewrap"),
    ),
};
