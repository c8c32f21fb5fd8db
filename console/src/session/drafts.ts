import type { FormEntries } from "@triplane/client/input-form";
import { useState } from "react";
import { store, stored } from "./storage.ts";
import { useViewer } from "./viewer.tsx";

/**
 * The words of forms that were not sent yet. They stay in the tab, since the end of a session takes the page. Only their person
 * sees them again: a sign-out and the sign-in of another person remove them.
 */
const KEY = "triplane-drafts";
/** The most characters that are kept in all. The oldest drafts go first. */
const MOST_CHARACTERS = 1_000_000;

/** `about` is the id of the question, call or agent. */
type Draft = { readonly person: string; readonly about: string; readonly form: string; readonly value: unknown };

/** A value of a form as `useState` has it, kept while it differs from its start. */
export function useDraft<Value>(
  about: string,
  form: string,
  start: Value,
  isValue: (value: unknown) => value is Value,
): readonly [value: Value, change: (value: Value) => void] {
  const { actor } = useViewer();
  const [value, setValue] = useState<Value>(() => {
    const found = kept().find((draft) => isOf(draft, actor.id, about, form))?.value;
    return isValue(found) ? found : start;
  });
  const others = (): readonly Draft[] => kept().filter((draft) => !isOf(draft, actor.id, about, form));
  const change = (next: Value): void => {
    setValue(next);
    keep(next === start ? others() : [...others(), { person: actor.id, about, form, value: next }]);
  };
  return [value, change];
}

/** The drafts of one question. */
export function useDraftsOf(about: string): { readonly has: (form: string) => boolean; readonly forget: () => void } {
  const { actor } = useViewer();
  return {
    has: (form) => kept().some((draft) => isOf(draft, actor.id, about, form)),
    forget: () => keep(kept().filter((draft) => draft.person !== actor.id || draft.about !== about)),
  };
}

/** Removes the drafts of all people but this one; null for nobody. */
export function forgetDraftsOfOthers(person: string | null): void {
  keep(kept().filter((draft) => draft.person === person));
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isEntries(value: unknown): value is FormEntries {
  const isEntry = (entry: unknown): boolean =>
    typeof entry === "string" || typeof entry === "boolean" || (Array.isArray(entry) && entry.every(isText));
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isEntry);
}

function isOf(draft: Draft, person: string, about: string, form: string): boolean {
  return draft.person === person && draft.about === about && draft.form === form;
}

/** The newest draft is the last. One that has no room is left out: the form itself still has its words. */
function keep(drafts: readonly Draft[]): void {
  if (drafts.length === 0) return void store("tab", KEY, null);
  const text = JSON.stringify(drafts);
  const isNewestHuge = JSON.stringify(drafts.slice(-1)).length > MOST_CHARACTERS;
  if (text.length > MOST_CHARACTERS) return keep(isNewestHuge ? drafts.slice(0, -1) : drafts.slice(1));
  if (!store("tab", KEY, text)) store("tab", KEY, JSON.stringify(drafts.slice(0, -1)));
}

function kept(): readonly Draft[] {
  try {
    const found: unknown = JSON.parse(stored("tab", KEY) ?? "[]");
    return Array.isArray(found) ? found.filter(isDraft) : [];
  } catch {
    // Another program has written it.
    return [];
  }
}

function isDraft(value: unknown): value is Draft {
  return (
    typeof value === "object" && value !== null && "person" in value && "about" in value && "form" in value && "value" in value
  );
}
