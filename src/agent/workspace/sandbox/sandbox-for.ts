import type { Sandbox } from "./sandbox.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

/** The demand of a template for a box: programs run in one never, or always. */
export type SandboxDemand = "none" | "required";

/** The sandboxes of a server. `box` is null if this machine makes no boxes. */
export type Sandboxes = { readonly none: Sandbox; readonly box: Sandbox | null };

/** The sandbox in which programs of an agent of this template run. Where there is no box, a template that requires one starts nothing. */
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
