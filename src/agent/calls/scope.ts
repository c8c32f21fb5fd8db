import type { CallingAgent } from "./call.ts";
import type { CallOwner } from "./owner.ts";
import type { ResultCache } from "./results/result-cache.ts";
import type { CallServices } from "./services.ts";
import type { CallTemplate } from "./template.ts";

/** All by which the calls of one agent are judged and run. */
export type CallScope = {
  readonly services: CallServices;
  readonly template: CallTemplate;
  readonly agent: CallingAgent;
  readonly owner: CallOwner;
  /** The results of cacheable tools under the owner's lease. */
  readonly results: ResultCache;
};
