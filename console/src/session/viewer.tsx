import { visible } from "@triplane/client/command-lines";
import { createContext, useContext, type ReactNode } from "react";
import type { Action, ViewerQuery } from "../generated/documents.ts";

/** The person who uses the console. */
export type Viewer = ViewerQuery["viewer"];

const ViewerContext = createContext<Viewer | null>(null);

export function ViewerProvider({ viewer, children }: { readonly viewer: Viewer; readonly children: ReactNode }): ReactNode {
  return <ViewerContext value={viewer}>{children}</ViewerContext>;
}

/** The viewer. Screens are shown only after the viewer is known. */
export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (viewer === null) throw new Error("the viewer is not known yet");
  return viewer;
}

/** True if the viewer has the right; otherwise the server's reason. */
export function useMay(action: Action): { readonly isAllowed: boolean; readonly reason: string | null } {
  const { abilities } = useViewer();
  return abilities.find((ability) => ability.action === action) ?? { isAllowed: false, reason: null };
}

/** True if the viewer may send messages to an agent of this person, and interrupt it. */
export function useMaySteer(createdBy: { readonly id: string }): boolean {
  const { actor, roles } = useViewer();
  const { isAllowed } = useMay("STEER_ALL_AGENTS");
  return isAllowed || (roles.includes("USER") && createdBy.id === actor.id);
}

/** The name of a person or program for people. Hidden characters are escaped: people may choose their names. */
export function nameOf(actor: { readonly name: string | null; readonly actorId: string }): string {
  return visible(actor.name ?? actor.actorId);
}

/** The names of several people, each once. */
export function namesOf(actors: readonly { readonly name: string | null; readonly actorId: string }[]): string {
  return [...new Set(actors.map(nameOf))].join(", ");
}
