import type { JsonObject } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { messageOf } from "../../../lib/text.ts";
import { hookCall, hooksFor, type CallHooks, type HookAgent, readPreToolUseAnswer, type PreToolUseSaid } from "../hooks.ts";
import { hookAnswer } from "../../tools/tool-hooks.ts";
import type { ToolResult } from "../../tools/tool-result.ts";
import type { Tool } from "../../tools/tool.ts";
import { PathRefused, type Workspace } from "../../workspace/workspace.ts";
import { boxAdvice } from "../../workspace/sandbox/available.ts";
import { withFolderContents } from "../../policy/commands/folder-content.ts";
import { gitTime } from "../../bash/git/answer-of-git.ts";
import { withRecordedFiles } from "../../policy/commands/recorded-files.ts";
import { withUsedRepositories } from "../../policy/commands/used-repository.ts";
import { denyRules, judge } from "../../policy/judge.ts";
import { isStricter, type Explanation, type Policy, type Verdict } from "../../policy/permission.ts";
import { issueLines, type Refusal } from "../refusals/refusal.ts";
import { isReading, linesOf, ruleValues, type RuleValues } from "../../policy/rule-values.ts";
import { validate, type Validated } from "./validation.ts";

/**
 * The parts by which a call is judged. `askedPolicy` is the policy for a call that `policy` asks about: it includes
 * stored rules, if those are not known yet. `signal` aborts the wait for hooks.
 */
export type PermissionScope = {
  readonly policy: Policy;
  readonly askedPolicy: () => Promise<Policy>;
  readonly hooks: Pick<CallHooks, "preToolUse">;
  readonly agent: HookAgent;
  readonly workspace: Workspace;
  /** The reason why the definition of a tool is not the accepted one; null if it is. */
  readonly definitionChange: (tool: Tool, tenant: string) => Promise<string | null>;
  /** The reason why a call may write text from outside into memory; null if it does not. */
  readonly fromOutside: (tool: Tool, values: RuleValues) => Promise<string | null>;
  readonly signal: AbortSignal;
};

/** A judged call with its rule values (null if a path has no place in the workspace) and its explanation. */
export type Judged = { readonly call: Validated; readonly values: RuleValues | null; readonly explanation: Explanation };

export type Permitted =
  | (Judged & { readonly kind: "allowed" })
  | (Judged & { readonly kind: "asked"; readonly reason: string; readonly meta: JsonObject | null })
  | (Judged & { readonly kind: "answered"; readonly result: ToolResult });

/** `failedHook` says what failed, if that is the reason for the denial. */
export type Denied = Judged & { readonly refusal: Refusal; readonly failedHook: string | null };

/** Stage 3: rules, lists and the mode; then hooks, the tool's own first, which may only tighten. */
export async function permit(call: Validated, scope: PermissionScope): Promise<Result<Permitted, Denied>> {
  const judged = await judgeByRules(call, scope);
  return judged.explanation.verdict === "deny" ? denied(judged) : tighten(judged, scope);
}

async function judgeByRules(call: Validated, scope: PermissionScope): Promise<Judged> {
  const judged = await judgeByPolicy(call, scope);
  if (judged.explanation.verdict !== "ask") return judged;
  const policy = await scope.askedPolicy();
  return policy === scope.policy ? judged : judgeByPolicy(call, { ...scope, policy });
}

export async function judgeByPolicy(
  call: Validated,
  scope: Pick<PermissionScope, "policy" | "workspace" | "definitionChange" | "fromOutside">,
): Promise<Judged> {
  const { policy, workspace } = scope;
  const { request, tool, bound } = call;
  let values: RuleValues;
  try {
    values = ruleValues(tool, bound.input, workspace);
  } catch (error) {
    if (!(error instanceof PathRefused)) throw error;
    const said = { rule: "workspace", place: "workspace", verdict: "deny" } as const;
    const explanation = {
      verdict: "deny",
      decidedBy: "workspace",
      place: "workspace",
      reason: error.message,
      considered: [said],
    } as const;
    return { call, values: null, explanation };
  }
  if (linesOf(values).length > 0) {
    const time = gitTime();
    values = await withFolderContents(values, workspace, denyRules(policy), policy.box, time);
    values = await withRecordedFiles(values, workspace, policy, time);
    values = await withUsedRepositories(values, workspace, policy.box !== null, time);
  }
  const changed = tool.definition === null ? null : await scope.definitionChange(tool, request.tenant);
  const fromOutside = tool.reads === null ? null : await scope.fromOutside(tool, values);
  const explanation = judge(
    {
      agentId: request.agentId,
      name: tool.name,
      readOnly: isReading(tool, values),
      values,
      ...(changed !== null && { changed }),
      ...(fromOutside !== null && { fromOutside }),
    },
    policy,
  );
  return { call, values, explanation: withAdvice(explanation, values, policy) };
}

/** Adds how to avoid the question, if a line is asked about because the list of read-only commands lacks it. */
function withAdvice(explanation: Explanation, values: RuleValues, { permission, box }: Policy): Explanation {
  const isUnlisted = explanation.verdict === "ask" && explanation.decidedBy.startsWith("mode ") && permission.readOnlyCommands;
  return isUnlisted && box === null && linesOf(values).length > 0
    ? { ...explanation, reason: `${explanation.reason}; ${boxAdvice()}` }
    : explanation;
}

async function tighten(first: Judged, scope: PermissionScope): Promise<Result<Permitted, Denied>> {
  let judged = first;
  let meta: JsonObject | null = null;
  for (const { place, run } of hooksFor("preToolUse", first.call.tool, scope.hooks)) {
    const said = (verdict: Verdict | "no match", reason: string): Judged => ({
      ...judged,
      explanation: considering(judged.explanation, place, verdict, reason),
    });
    const failed = (problem: string): Result<never, Denied> => {
      const judgedSo = said("deny", `a hook failed (${problem}), and what a hook cannot judge does not run`);
      return denied(judgedSo, null, `the hook ${place} failed for ${first.call.tool.name}, and the call was denied: ${problem}`);
    };
    let answer: PreToolUseSaid;
    try {
      const { call } = judged;
      answer = readPreToolUseAnswer(await hookAnswer(() => run(hookCall(call, scope.agent)), scope.signal, place));
    } catch (error) {
      return failed(messageOf(error));
    }
    switch (answer.kind) {
      case "nothing":
        judged = said("no match", "");
        break;
      case "ask":
        judged = said("ask", answer.reason ?? `a hook asks for ${first.call.tool.name}`);
        meta = answer.meta === null ? meta : Object.assign({}, meta, answer.meta);
        break;
      case "deny":
        return denied(said("deny", answer.reason ?? `a hook forbids ${first.call.tool.name}`), answer.result);
      case "unreadable":
        return failed(answer.problem);
      case "result":
        return accepted({ ...said("allow", "a hook answered in the tool's place"), kind: "answered", result: answer.result });
      case "input": {
        const rewritten = await rewrite(judged, answer.input, place, scope);
        if (rewritten.explanation.verdict === "deny") return denied(rewritten);
        judged = rewritten;
      }
    }
  }
  const { verdict, reason } = judged.explanation;
  return accepted(verdict === "ask" ? { ...judged, kind: "asked", reason, meta } : { ...judged, kind: "allowed" });
}

/** The call with a hook's input: validated and judged again, and never more leniently than before. */
async function rewrite(before: Judged, input: JsonObject, place: string, scope: PermissionScope): Promise<Judged> {
  const { call, explanation } = before;
  const validated = validate({ tool: call.tool, request: { ...withoutInput(call.request), form: "json", input } });
  if (!validated.ok) {
    const problems = validated.refusal.type === "invalid_params" ? issueLines(validated.refusal.issues).join("; ") : "";
    return {
      ...before,
      explanation: considering(explanation, place, "deny", `a hook gave an input that is not valid (${problems})`),
    };
  }
  const judged = await judgeByRules(validated.value, scope);
  const considered = [
    ...explanation.considered,
    { rule: "hook, with another input", place, verdict: "no match" } as const,
    ...judged.explanation.considered,
  ];
  const deciding = isStricter(explanation.verdict, judged.explanation.verdict) ? explanation : judged.explanation;
  return { ...judged, explanation: { ...deciding, considered } };
}

function withoutInput({
  tenant,
  agentId,
  callId,
  name,
}: Validated["request"]): Pick<Validated["request"], "tenant" | "agentId" | "callId" | "name"> {
  return { tenant, agentId, callId, name };
}

function considering(before: Explanation, place: string, verdict: Verdict | "no match", reason: string): Explanation {
  const considered = [...before.considered, { rule: "hook", place, verdict }];
  return verdict === "no match" ? { ...before, considered } : { verdict, decidedBy: "hook", place, reason, considered };
}

function denied(judged: Judged, result: ToolResult | null = null, failedHook: string | null = null): Result<never, Denied> {
  const { reason } = judged.explanation;
  return refused({ ...judged, failedHook, refusal: { type: "permission_denied", stage: "permission", reason, result } });
}
