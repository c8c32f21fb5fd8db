import type { ToolCallError, ToolCallErrorType } from "../../events/snapshots.ts";

const ADVICE: Readonly<
  Record<ToolCallErrorType, { readonly isRetryable: boolean; readonly recommendations: readonly string[] }>
> = {
  not_found: { isRetryable: false, recommendations: ["Use one of the tools that there are."] },
  disabled: { isRetryable: false, recommendations: ["Use one of the tools that the agent has."] },
  invalid_params: { isRetryable: false, recommendations: ["Correct the arguments that are named, and call again."] },
  permission_denied: {
    isRetryable: false,
    recommendations: ["Find another way, or say what cannot be done.", "Ask an operator if the rule is meant."],
  },
  user_rejected: { isRetryable: false, recommendations: ["Ask what to do instead, or go on without it."] },
  approval_expired: { isRetryable: true, recommendations: ["Go on without it, or ask for it when people are there."] },
  tool_busy: { isRetryable: true, recommendations: ["Call again later."] },
  execution_failed: { isRetryable: true, recommendations: ["Read what the tool says, change what is wrong, and call again."] },
  timeout: {
    isRetryable: true,
    recommendations: [
      "Check for effects before it is repeated, unless its message says that its program did not run.",
      "Ask for less in one call.",
    ],
  },
  aborted: { isRetryable: false, recommendations: ["Check for effects before it is repeated."] },
};

export const AFTER_A_WAIT: readonly string[] = [
  "The program that it waited to start did not run: call again when what its message names has ended.",
];

/** True if the same call may succeed later, or after a correction that the advice describes. */
export function isRetryable(type: ToolCallErrorType): boolean {
  return ADVICE[type].isRetryable;
}

/** The advice on a refusal, a sentence each. A call that was aborted before it ran has no effects. */
export function recommendationsOf({ type, stage }: Pick<ToolCallError, "type" | "stage">): readonly string[] {
  if (type === "aborted" && stage !== "execution") return ["It was not run: do as its message says."];
  return ADVICE[type].recommendations;
}
