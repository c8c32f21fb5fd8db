import { createHash, timingSafeEqual } from "node:crypto";
import type { Actor } from "../agent/actor.ts";
import type { Authentication } from "../settings.ts";

/** Whoever reaches a server without configured actors: the person at this machine. */
export const LOCAL_ADMINISTRATOR: Actor = { id: "local", kind: "USER", tenant: "local", roles: ["admin"] };

/** Who asks with this token; null for nobody. */
export async function authenticate(authentication: Authentication, token: string | null, headers: Headers): Promise<Actor | null> {
  switch (authentication.kind) {
    case "local":
      return LOCAL_ADMINISTRATOR;
    case "custom":
      return authentication.authenticate({ token, headers });
    case "tokens": {
      if (token === null) return null;
      const hash = createHash("sha256").update(token).digest();
      const actor = authentication.actors.find(({ tokenHash }) => timingSafeEqual(Buffer.from(tokenHash, "hex"), hash));
      return actor === undefined ? null : { id: actor.id, kind: actor.kind ?? "USER", tenant: actor.tenant, roles: actor.roles };
    }
  }
}

/** The token of an Authorization header or of the field of that name in connectionParams. */
export function bearerToken(authorization: unknown): string | null {
  if (typeof authorization !== "string") return null;
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1] ?? null;
}
