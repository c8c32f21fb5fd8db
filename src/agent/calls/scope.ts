import type { CallingAgent } from "./call.ts";
import type { CallOwner } from "./owner.ts";
import type { ResultCache } from "./results/result-cache.ts";
import type { CallServices } from "./services.ts";
import type { CallTemplate } from "./template.ts";

export type CallScope = {
  readonly services: CallServices;
  readonly template: CallTemplate;
  readonly agent: CallingAgent;
  readonly owner: CallOwner;
  readonly results: ResultCache;
};
