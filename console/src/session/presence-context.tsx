import { createContext, useContext, type ReactNode } from "react";
import type { Presence } from "./presence.ts";

const PresenceContext = createContext<Presence | null>(null);

export function PresenceProvider({
  presence,
  children,
}: {
  readonly presence: Presence;
  readonly children: ReactNode;
}): ReactNode {
  return <PresenceContext value={presence}>{children}</PresenceContext>;
}

/** How this browser came in. Screens are shown only after that is known. */
export function usePresence(): Presence {
  const presence = useContext(PresenceContext);
  if (presence === null) throw new Error("the browser's session is not known yet");
  return presence;
}
