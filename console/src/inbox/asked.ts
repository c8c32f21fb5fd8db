import { useEffect, useState } from "react";
import { AskedDocument, type AskedQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";

/** Everything that a decision needs. */
export type Asked = Extract<NonNullable<AskedQuery["node"]>, { readonly inputHash: unknown }>;
export type Subject = NonNullable<Asked["subject"]>;
export type BudgetAsked = Extract<Subject, { readonly raiseTo: unknown }>;
export type HostAsked = Extract<Subject, { readonly host: unknown }>;
export type InputAsked = Extract<Subject, { readonly fields: unknown }>;

export type Look =
  | { readonly kind: "looking" }
  | { readonly kind: "seen"; readonly asked: Asked; readonly atMs: number }
  | { readonly kind: "gone" }
  | { readonly kind: "failed"; readonly problem: string };

/** Looks at one approval; again each time that `version` changes. An earlier look stays shown until the next one is there. */
export function useAsked(id: string, version: unknown): { readonly look: Look; readonly again: () => void } {
  const [look, setLook] = useState<{ readonly of: string; readonly look: Look }>({ of: id, look: { kind: "looking" } });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    const say = (next: Look): void => void (isCurrent ? setLook({ of: id, look: next }) : null);
    ask(AskedDocument, { id }).then(
      ({ node }) => say(isApproval(node) ? { kind: "seen", asked: node, atMs: performance.now() } : { kind: "gone" }),
      (failure: unknown) => say({ kind: "failed", problem: failure instanceof Error ? failure.message : String(failure) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [id, version, tries]);
  return { look: look.of === id ? look.look : { kind: "looking" }, again: () => setTries((count) => count + 1) };
}

function isApproval(node: AskedQuery["node"]): node is Asked {
  return node !== null && "inputHash" in node;
}

export function budgetIn({ subject }: Asked): BudgetAsked | null {
  return isBudget(subject) ? subject : null;
}

export function hostIn({ subject }: Asked): HostAsked | null {
  return isHost(subject) ? subject : null;
}

export function inputIn({ subject }: Asked): InputAsked | null {
  return isInput(subject) ? subject : null;
}

function isBudget(subject: Asked["subject"]): subject is BudgetAsked {
  return subject !== null && "raiseTo" in subject;
}

function isHost(subject: Asked["subject"]): subject is HostAsked {
  return subject !== null && "host" in subject;
}

function isInput(subject: Asked["subject"]): subject is InputAsked {
  return subject !== null && "fields" in subject;
}
