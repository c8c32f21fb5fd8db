import type { CallingAgent } from "./call.ts";
import type { CallOwner } from "./owner.ts";
import type { CallServices } from "./services.ts";
import type { CallTemplate } from "./template.ts";

/** All by which the calls of one agent are judged and run. */
export type CallScope = {
  readonly services: CallServices;
  readonly template: CallTemplate;
  readonly agent: CallingAgent;
  readonly owner: CallOwner;
};
