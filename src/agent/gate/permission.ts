import { accepted, refused, type Result } from "../../lib/result.ts";
import { messageOf } from "../../lib/text.ts";
import { hookAnswer, type HookCall, type Hooks } from "../hooks.ts";
import type { Permission } from "../template.ts";
import type { ToolResult } from "../tools/tool.ts";
import type { Refusal } from "./refusal.ts";
import type { Validated } from "./validation.ts";

/** What a list or a mode says. */
export type Verdict = "allow" | "ask" | "deny";

/** Why a call was allowed, asked or denied: what was considered, in order, and which of it decided. */
export type Explanation = {
  readonly verdict: Verdict;
  readonly decidedBy: string;
  readonly considered: readonly { readonly rule: string; readonly verdict: Verdict | "no match" }[];
};

/** A call that may run at once, one that must be confirmed by a person, or one that a hook has answered. */
export type Permitted =
  | { readonly kind: "allowed"; readonly call: Validated; readonly explanation: Explanation }
  | { readonly kind: "asked"; readonly call: Validated; readonly explanation: Explanation; readonly reason: string }
  | { readonly kind: "answered"; readonly call: Validated; readonly explanation: Explanation; readonly result: ToolResult };

/** A call that was denied keeps its explanation. */
export type Denied = { readonly refusal: Refusal; readonly explanation: Explanation };

/** Stage 3: deny lists, allow lists, ask lists, the mode; then hooks, which may only tighten. `signal` stops their waiting. */
export async function permit(
  call: Validated,
  permission: Permission,
  hooks: Hooks,
  signal: AbortSignal,
): Promise<Result<Permitted, Denied>> {
  const explanation = explain(call.tool, permission);
  if (explanation.verdict === "deny") return denied(explanation, `${explanation.decidedBy} forbids ${call.tool.name}`);
  return tighten(call, explanation, hooks, signal);
}

/** What the lists and the mode say of a tool. */
function explain(tool: { readonly name: string; readonly readOnly: boolean }, permission: Permission): Explanation {
  const { mode, allowTools, denyTools, autoAllowTools, requireApprovalTools } = permission;
  const considered: { rule: string; verdict: Verdict | "no match" }[] = [];
  const chain: readonly (readonly [rule: string, verdict: Verdict, matches: boolean])[] = [
    ["denyTools", "deny", denyTools.includes(tool.name)],
    ["allowTools", "deny", allowTools !== null && !allowTools.includes(tool.name)],
    ...(mode === "deny" || mode === "readonly" ? [[`mode ${mode}`, "deny", mode === "deny" || !tool.readOnly] as const] : []),
    ["autoAllowTools", "allow", autoAllowTools.includes(tool.name)],
    ["requireApprovalTools", "ask", requireApprovalTools.includes(tool.name)],
    [`mode ${mode}`, mode === "approval" || (mode === "default" && !tool.readOnly) ? "ask" : "allow", true],
  ];
  for (const [rule, verdict, matches] of chain) {
    considered.push({ rule, verdict: matches ? verdict : "no match" });
    if (matches) return { verdict, decidedBy: rule, considered };
  }
  throw new Error("the mode decides every call");
}

async function tighten(
  call: Validated,
  explanation: Explanation,
  hooks: Hooks,
  signal: AbortSignal,
): Promise<Result<Permitted, Denied>> {
  const considered = [...explanation.considered];
  let { verdict, decidedBy } = explanation;
  const soFar = (): Explanation => ({ verdict, decidedBy, considered });
  let reason = `${explanation.decidedBy} asks for ${call.tool.name}`;
  for (const [index, hook] of hooks.preToolUse.entries()) {
    const rule = `hook preToolUse[${index}]`;
    try {
      const answer = await hookAnswer(() => hook(hookCall(call)), signal);
      if (answer === undefined) {
        considered.push({ rule, verdict: "no match" });
      } else if ("result" in answer) {
        return accepted({ kind: "answered", call, explanation: decided(soFar(), rule, "allow"), result: answer.result });
      } else if (answer.decision === "deny") {
        return denied(decided(soFar(), rule, "deny"), answer.reason ?? `a hook forbids ${call.tool.name}`);
      } else {
        considered.push({ rule, verdict: "ask" });
        verdict = "ask";
        decidedBy = rule;
        reason = answer.reason ?? `a hook asks for ${call.tool.name}`;
      }
    } catch (error) {
      return denied(
        decided(soFar(), rule, "deny"),
        `a hook failed (${messageOf(error)}), and what a hook cannot judge does not run`,
      );
    }
  }
  return accepted(
    verdict === "ask" ? { kind: "asked", call, explanation: soFar(), reason } : { kind: "allowed", call, explanation: soFar() },
  );
}

/** The call as hooks see it: with a copy of the input, so that they cannot change what runs. */
export function hookCall({ request, tool, bound }: Validated): HookCall {
  return { agentId: request.agentId, callId: request.callId, name: tool.name, input: structuredClone(bound.input) };
}

function decided(explanation: Explanation, rule: string, verdict: Verdict): Explanation {
  return { verdict, decidedBy: rule, considered: [...explanation.considered, { rule, verdict }] };
}

function denied(explanation: Explanation, reason: string): Result<never, Denied> {
  return refused({ refusal: { type: "permission_denied", stage: "permission", reason }, explanation });
}
