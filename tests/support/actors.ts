import { createHash } from "node:crypto";
import type { Role } from "../../src/agent/actors/actor.ts";
import type { TriplaneConfig } from "../../src/triplane.ts";
import type { TokenActor } from "../../src/server/authenticate.ts";

/** An actor of tenant `acme` as the configuration names them, with the token by which they come. */
export function tokenActor(
  id: string,
  roles: readonly Role[],
  tenant = "acme",
): { readonly token: string; readonly actor: TokenActor } {
  const token = `${id}-token`;
  return {
    token,
    actor: { id, name: null, kind: "USER", tokenHash: createHash("sha256").update(token).digest("hex"), tenant, roles },
  };
}

/** People of tenant `acme`, and zoe, who is an administrator of another. Each has a token of the form `anna-token`. */
export const NEIGHBOURS: Partial<TriplaneConfig> = {
  actors: [
    tokenActor("anna", ["user"]),
    tokenActor("ben", ["user"]),
    tokenActor("vera", ["viewer"]),
    tokenActor("paul", ["approver"]),
    tokenActor("zoe", ["admin"], "other"),
  ].map(({ actor }) => actor),
};
