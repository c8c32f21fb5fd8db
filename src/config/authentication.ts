import { complete, type Written } from "../lib/setting.ts";
import { TOKEN_ACTOR_SETTINGS, type Authenticate, type Authentication } from "../server/authenticate.ts";
import { ConfigurationError } from "./configuration-error.ts";

export function authenticationOf(
  path: string,
  actors: readonly Written<typeof TOKEN_ACTOR_SETTINGS>[] | undefined,
  authenticate: Authenticate | undefined,
): Authentication {
  if (actors !== undefined && authenticate !== undefined)
    throw new ConfigurationError(`${path}: give actors or authenticate, not both`);
  if (authenticate !== undefined) return { kind: "custom", authenticate };
  if (actors === undefined) return { kind: "local" };
  const hashes = actors.map((actor) => actor.tokenHash);
  const repeated = hashes.findIndex((hash, index) => hashes.indexOf(hash) !== index);
  if (repeated >= 0)
    throw new ConfigurationError(`${path}: actors.${repeated}.tokenHash is another actor's too: give each a token of its own`);
  for (const [index, actor] of actors.entries()) {
    const first = actors.find(({ id, tenant }) => id === actor.id && tenant === actor.tenant);
    if (first !== undefined && describedAs(first) !== describedAs(actor))
      throw new ConfigurationError(
        `${path}: actors.${index} is ${actor.id} of ${actor.tenant} as another one is, and differs in more than the token: give both the same name, kind and roles, or another id`,
      );
  }
  return { kind: "tokens", actors: actors.map((actor) => complete(TOKEN_ACTOR_SETTINGS, actor)) };
}

function describedAs({ name, kind, roles }: Written<typeof TOKEN_ACTOR_SETTINGS>): string {
  return JSON.stringify([name ?? null, kind ?? null, roles.toSorted()]);
}
