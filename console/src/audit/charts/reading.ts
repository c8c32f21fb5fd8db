import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { useEffect, useState } from "react";
import { presentMs } from "../../design/present.ts";
import { ask } from "../../session/ask.ts";

/** An answer, or its absence. `isReading` says that another one is on its way. */
export type Reading<Data> =
  | { readonly kind: "loading" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "read"; readonly data: Data; readonly readAt: Date; readonly isReading: boolean };

/** The answer to an operation, which is asked anew with other variables and in another `round`. */
export function useReading<Data, Variables extends Readonly<Record<string, unknown>>>(
  operation: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  round: number,
): Reading<Data> {
  const [reading, setReading] = useState<Reading<Data>>({ kind: "loading" });
  useEffect(() => {
    let isWanted = true;
    const show = (next: Reading<Data>): void => (isWanted ? setReading(next) : undefined);
    setReading((before) => (before.kind === "read" ? { ...before, isReading: true } : { kind: "loading" }));
    ask(operation, variables).then(
      (data) => show({ kind: "read", data, readAt: new Date(presentMs()), isReading: false }),
      (error: unknown) => show({ kind: "failed", message: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isWanted = false;
    };
  }, [operation, JSON.stringify(variables), round]);
  return reading;
}
