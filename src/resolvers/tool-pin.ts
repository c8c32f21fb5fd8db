import { acceptTool as accept, type AcceptTool } from "../agent/approvals/accept-tool.ts";
import { changeOf, pinsOf, type Pin } from "../agent/mcp/pins.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { visibleLine } from "../lib/escape-hidden.ts";
import { payloadOf, type Context, type Payload } from "./context.ts";

/** The definitions are JSON without invisible characters. */
export type DefinitionChange = {
  readonly reason: string;
  readonly accepted: string | null;
  readonly acceptedAt: Date | null;
  readonly present: string;
  readonly digest: string;
};

/** The pins that one answer has read, by server. */
const known = new WeakMap<Context["loaders"], Map<string, Promise<ReadonlyMap<string, Pin>>>>();

/** The difference of a tool from its accepted definition, for administrators; null without one. */
export async function changeOfTool(
  { actor, tenant, services, loaders }: Context,
  { name, server, definition }: Tool,
): Promise<DefinitionChange | null> {
  if (server === null || definition === null || !actor.roles.includes("admin")) return null;
  const read = known.get(loaders) ?? new Map<string, Promise<ReadonlyMap<string, Pin>>>();
  known.set(loaders, read);
  const reading = read.get(server) ?? pinsOf(services.reads, tenant, server);
  read.set(server, reading);
  const pins = await reading;
  const { text, digest } = definition;
  const reason = changeOf(name, server, digest, pins);
  if (reason === null) return null;
  const pin = pins.get(name);
  const accepted = pin === undefined ? null : visibleLine(pin.definition);
  return { reason, accepted, acceptedAt: pin?.pinnedAt ?? null, present: visibleLine(text), digest };
}

export async function acceptTool(context: Context, request: AcceptTool): Promise<Payload> {
  return payloadOf(context, await accept(context.services, context.actor, request));
}

/** The tool that a payload is about; null if the mutation failed, and for one that is gone by now. */
export function toolNamed({ services }: Context, name: string | null): Tool | null {
  return name === null ? null : (services.tools.get(name) ?? null);
}
