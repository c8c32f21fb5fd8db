import { store, stored } from "../session/storage.ts";

/**
 * Decisions that the end of the session has cut off. The page is gone with the session, so they are kept for the person's next
 * sign-in in this tab: the question is still open, and the person believes that it was answered.
 */
const KEY = "triplane-lost-decisions";
const MOST = 100;

type Lost = { readonly person: string; readonly approvalId: string };

export function keepLost(lost: Lost): void {
  store("tab", KEY, JSON.stringify([...kept(), lost].slice(-MOST)));
}

/** The approvals whose decisions by this person were lost. They are told once; those of others are forgotten. */
export function takeLost(person: string): readonly string[] {
  const own = kept().filter((lost) => lost.person === person);
  store("tab", KEY, null);
  return [...new Set(own.map(({ approvalId }) => approvalId))];
}

function kept(): readonly Lost[] {
  const text = stored("tab", KEY);
  if (text === null) return [];
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? found.filter(isLost) : [];
  } catch {
    // Another program has written it.
    return [];
  }
}

function isLost(value: unknown): value is Lost {
  return (
    typeof value === "object" &&
    value !== null &&
    "person" in value &&
    typeof value.person === "string" &&
    "approvalId" in value &&
    typeof value.approvalId === "string"
  );
}
