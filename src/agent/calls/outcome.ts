import type { CallWait } from "../../db/commit/change.ts";
import type { Json } from "../../lib/json.ts";
import type { DigestedImage } from "../tools/images.ts";
import type { AnswerKept, NeedsInput } from "../tools/question.ts";
import type { StartedChild } from "../tools/child.ts";
import type { StartedTask } from "../tools/later.ts";
import type { NotedFile } from "../workspace/known-files.ts";
import type { RefusedHosts } from "./hosts/call-hosts.ts";
import type { Refusal } from "./refusals/refusal.ts";
import type { FreshResult } from "./results/result-cache.ts";
import type { Stages } from "./stage-clock.ts";
import type { Formatted } from "./stages/formatting.ts";

export type CallWarning = {
  readonly detail: "slow_tool" | "events_left_out" | "hook_failed" | "output_not_kept";
  readonly message: string;
};

export type CallRecord = {
  readonly stages: Stages;
  readonly durationMs: number;
  readonly warnings: readonly CallWarning[];
  /** The length of the kept output, if the model reads only a part of it; null if the model reads all. */
  readonly keptOutputBytes: number | null;
  readonly files: readonly NotedFile[];
  /** The hosts that it could not reach, and that a person may allow. */
  readonly refusedHosts: RefusedHosts;
  /** The hosts that it asked to reach, by name, allowed or not. */
  readonly hosts: readonly string[];
  /** The child that it starts; null for none. */
  readonly child: StartedChild | null;
};

/** The tool's result comes later, within `dueMs`; null for that of a child, which has all the time it needs. */
export type LaterOutcome = CallRecord & {
  readonly kind: "later";
  readonly waitsFor: CallWait;
  readonly dueMs: number | null;
  /** The task of an MCP server whose end is the result; null for none. */
  readonly task: StartedTask | null;
};

/** The tool needs input of a person: the call waits for that, and then runs again. */
export type AskingOutcome = CallRecord & { readonly kind: "asks"; readonly asked: NeedsInput };

/** The server of the tool is away: the call waits for it with the answer of a person, and then runs again. */
export type KeptOutcome = CallRecord & { readonly kind: "kept"; readonly kept: AnswerKept };

export type CallOutcome = EndedOutcome | LaterOutcome | AskingOutcome | KeptOutcome;

export type EndedOutcome = CallRecord &
  (
    | {
        readonly kind: "completed";
        readonly output: string;
        readonly details: Json;
        readonly images: readonly DigestedImage[];
        /** The call whose result this is; null if the tool ran. */
        readonly cachedFrom: string | null;
        /** The result that identical calls may reuse once the end is stored; null if none may. */
        readonly fresh: FreshResult | null;
      }
    | {
        readonly kind: "refused";
        readonly refusal: Refusal;
        /** The result that hooks put in place of the usual text, for the model and for programs; null for none. */
        readonly said: Pick<Formatted, "output" | "details"> | null;
        /** The output of its programs so far, as the model reads it; null if empty. */
        readonly soFar: string | null;
      }
  );
