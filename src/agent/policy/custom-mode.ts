import { messageOf } from "../../lib/text.ts";
import { currentOwnCode } from "../tools/own-code.ts";
import { VERDICTS, type PermissionMode, type PolicyCall, type Verdict } from "./permission.ts";

/** The verdict of a mode of the operator's own, which is trusted with nothing: one that fails, or answers something else, denies. */
export function customVerdict(
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
    currentOwnCode()?.threw(error, `the mode ${name}`);
    return { verdict: "deny", reason: `mode ${name} failed (${messageOf(error)}), and what it cannot judge does not run` };
  }
}
