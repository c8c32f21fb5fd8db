import { createHash } from "node:crypto";
import type { Role } from "../../src/agent/actors/actor.ts";
import type { TokenActor } from "../../src/server/authenticate.ts";

/** An actor of tenant `acme` as the configuration names them, with the token by which they come. */
export function tokenActor(
  id: string,
  roles: readonly Role[],
  tenant = "acme",
): { readonly token: string; readonly actor: TokenActor } {
  const token = `${id}-token`;
  return { token, actor: { id, kind: "USER", tokenHash: createHash("sha256").update(token).digest("hex"), tenant, roles } };
}
