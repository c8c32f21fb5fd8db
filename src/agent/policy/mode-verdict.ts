import { messageOf } from "../../lib/text.ts";
import { VERDICTS, type PermissionMode, type PolicyCall, type Verdict } from "./permission.ts";

/** The verdict of a mode on a call, with the reason in words. An own mode that fails, or answers something else, denies. */
export function modeVerdict(call: PolicyCall, mode: PermissionMode): { verdict: Verdict; reason: string } {
  const said = (verdict: Verdict): { verdict: Verdict; reason: string } => ({
    verdict,
    reason: `mode ${mode.name} ${verdict === "allow" ? "allows" : verdict === "ask" ? "asks for" : "forbids"} ${call.name}`,
  });
  if (mode.kind === "custom") return customVerdict(call, mode, said);
  switch (mode.name) {
    case "auto":
    case "readonly":
      return said("allow");
    case "approval":
      return said("ask");
    case "default":
      return said(call.readOnly ? "allow" : "ask");
    case "deny":
      return said("deny");
  }
}

/** The verdict of a mode of the operator's own, which is trusted with nothing: one that fails, or answers something else, denies. */
function customVerdict(
  call: PolicyCall,
  { name, judge }: PermissionMode & { kind: "custom" },
  said: (verdict: Verdict) => { verdict: Verdict; reason: string },
): { verdict: Verdict; reason: string } {
  try {
    const verdict: unknown = judge(structuredClone(call));
    // An asynchronous mode cannot be waited for, and must not bring the server down with what it throws later.
    if (verdict instanceof Promise) verdict.catch(() => {});
    const known = VERDICTS.find((candidate) => candidate === verdict);
    if (known !== undefined) return said(known);
    return { verdict: "deny", reason: `mode ${name} answered neither allow, ask nor deny` };
  } catch (error) {
    return { verdict: "deny", reason: `mode ${name} failed (${messageOf(error)}), and what it cannot judge does not run` };
  }
}
