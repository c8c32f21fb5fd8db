import { useMemo } from "react";
import { useNow } from "../../design/clock.tsx";
import { SnoozeDocument, WakeDocument } from "../../generated/documents.ts";
import { change, refusalText } from "../../session/ask.ts";
import { isPresent, type Snooze } from "./snooze-times.ts";
import { noteSnooze } from "../store.ts";

/** The ids of approvals that are put off now. The set changes only if its ids do. */
export function usePutOff(snoozes: ReadonlyMap<string, Snooze>): ReadonlySet<string> {
  const now = useNow();
  const ids = [...snoozes]
    .flatMap(([id, snooze]) => (isPresent(snooze, now) ? [id] : []))
    .toSorted()
    .join("\n");
  return useMemo(() => new Set(ids === "" ? [] : ids.split("\n")), [ids]);
}

/** Puts an approval off for the viewer alone. Returns the server's refusal, or null. */
export async function snooze(approvalId: string, until: Date): Promise<string | null> {
  const { snoozeApproval } = await change(SnoozeDocument, { input: { approvalId, until: until.toISOString() } });
  const { cursor, userErrors, approval } = snoozeApproval;
  if (userErrors.length === 0) noteSnooze(approvalId, approval?.viewerSnooze ?? null, cursor);
  return refusalText(userErrors);
}

/** Ends the viewer's snooze. Returns the server's refusal, or null. */
export async function wake(approvalId: string): Promise<string | null> {
  const { wakeApproval } = await change(WakeDocument, { input: { approvalId } });
  if (wakeApproval.userErrors.length === 0) noteSnooze(approvalId, null, wakeApproval.cursor);
  return refusalText(wakeApproval.userErrors);
}
