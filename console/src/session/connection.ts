import type { ResumeStatus } from "@triplane/client";
import { useSyncExternalStore } from "react";

/** The state of the page's connection, as its head shows it. */
export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "lost"; readonly message: string }
  | { readonly kind: "outage" };

let connection: Connection = { kind: "connecting" };
const listeners = new Set<() => void>();

export function tellConnection(status: ResumeStatus): void {
  const next = connectionOf(status);
  if (next.kind === connection.kind) return;
  connection = next;
  for (const listener of listeners) listener();
}

/** A subscription that the server has ended is no loss of the connection. */
function connectionOf(status: ResumeStatus): Connection {
  switch (status.kind) {
    case "connecting":
      // A further subscription of a live page begins on the same socket.
      return status.failures === 0 ? connection : { kind: "lost", message: "" };
    case "lost":
      return { kind: "lost", message: status.error.message };
    case "outage":
      return { kind: "outage" };
    case "catching up":
    case "caught up":
      return { kind: "live" };
    case "ended":
      return status.error === null ? connection : { kind: "lost", message: status.error.message };
  }
}

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => connection,
  );
}
