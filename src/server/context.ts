import type { Actor } from "../agent/actors/actor.ts";
import type { AgentOfTenant } from "../agent/loop/lease.ts";
import type { KnownNames } from "../agent/loop/waiting-for.ts";
import type { AgentServices, ServerServices } from "../agent/loop/scope.ts";
import { Loaders } from "../resolvers/loaders.ts";
import type { LogHead } from "../events/cursor.ts";
import type { Context } from "../resolvers/context.ts";
import type { Admission } from "../events/reading/reader.ts";
import type { Identified, Recognised } from "./authenticate.ts";
import type { Admissions, Person } from "./subscriptions/admissions.ts";
import type { RateLimits } from "./rate-limits.ts";

export type SharedContext = Pick<Context, "prisma" | "expensive" | "imageUrl" | "exportUrl" | "operator"> & {
  readonly services: ServerServices;
  readonly admissions: Admissions;
  readonly wake: (agent: AgentOfTenant) => void;
  readonly rateLimits: Pick<RateLimits, "roomOf">;
};

/** The context of one operation of this actor, as sign-in answered; with the admission for streams. */
export function makeContext(
  shared: SharedContext,
  actor: Actor,
  person: Person,
  { askedAt, identified: { signIn } }: Pick<Recognised, "askedAt"> & { readonly identified: Pick<Identified, "signIn"> },
): Context & { readonly admission: Admission } {
  const services = shared.services.of(actor.tenant);
  return {
    ...shared,
    services,
    ...oneAnswer(services, actor.tenant, shared.expensive),
    actor,
    signIn,
    room: shared.rateLimits.roomOf(actor),
    tenant: actor.tenant,
    admission: shared.admissions.of(person, actor, askedAt),
    wake: (agentId) => shared.wake({ agentId, tenant: actor.tenant }),
  };
}

function oneAnswer(
  services: Pick<AgentServices, "log" | "reads" | "transcripts" | keyof KnownNames>,
  tenant: string,
  expensive: Context["expensive"],
): Pick<Context, "snapshot" | "loaders" | "anew"> {
  let head: Promise<LogHead> | null = null;
  const snapshot = (): Promise<LogHead> => (head ??= services.log.head(tenant));
  const loaders = new Loaders(services, tenant, snapshot, (of, read) => expensive.inTurn(of, read));
  const anew = (): void => {
    head = null;
    loaders.clear();
  };
  return { snapshot, loaders, anew };
}

/** The context of a subscription's page for one reader, with its own snapshot. */
export function ownPageContext(context: Context): Context {
  return { ...context, ...oneAnswer(context.services, context.tenant, context.expensive) };
}

/**
 * The context of a page for all readers with equal visibility. It has no actor: asking for one is an error, since the
 * answer would be shown to others. `onRead` is called if the answer depends on more than the page.
 */
export function sharedPageContext(context: Context, onRead: () => void = () => {}): Context {
  const own = ownPageContext(context);
  const read = <Name extends keyof Context>(name: Name): Context[Name] => {
    onRead();
    return own[name];
  };
  return {
    ...own,
    get loaders() {
      return read("loaders");
    },
    get prisma() {
      return read("prisma");
    },
    get services() {
      return read("services");
    },
    get snapshot() {
      return read("snapshot");
    },
    get actor(): never {
      throw dependsOnViewer();
    },
    get signIn(): never {
      throw dependsOnViewer();
    },
  };
}

function dependsOnViewer(): Error {
  return new Error("a page of a subscription is shared by several readers: it must not depend on the viewer");
}
