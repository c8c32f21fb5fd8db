import type { Client } from "graphql-ws";
import { BEGINNING, type Beginning } from "./operations.ts";

/** Something that the person at the terminal should read, without a stack. */
export class TerminalError extends Error {}

/** A mutation that the server refuses, with the fields that are wrong. */
export class RefusedError extends TerminalError {
  readonly userErrors: Payload["userErrors"];

  constructor(userErrors: Payload["userErrors"]) {
    super(userErrors.map(({ message }) => message).join("; "));
    this.userErrors = userErrors;
  }
}

/** The address of the WebSocket; a server's address alone means its /graphql. */
export function socketUrl(text: string): string {
  if (!URL.canParse(text) || !/^(http|ws)s?:$/.test(new URL(text).protocol))
    throw new TerminalError(`${text} is not the address of a server: give one like http://127.0.0.1:4000/graphql`);
  const url = new URL(text);
  if (url.pathname === "/") url.pathname = "/graphql";
  return url.href.replace(/^http/, "ws");
}

/** The page of an agent in the console of a server, whose WebSocket has the address `url`. */
export function consoleUrl(url: string, agentId: string): string {
  return new URL(`/console/agents/${encodeURIComponent(agentId)}`, url.replace(/^ws/, "http")).href;
}

/** The address if nothing else is said. */
export function defaultUrl(): string {
  return `http://127.0.0.1:${process.env["PORT"] ?? "4000"}/graphql`;
}

/** The results of an operation, as they come. */
export type Results<Data> = AsyncIterable<{
  readonly data?: Data | null | undefined;
  readonly errors?: readonly { readonly message: string }[] | undefined;
}>;

/** The data of each result; its errors are thrown. */
export async function* dataOf<Data>(results: Results<Data>): AsyncGenerator<Data, void> {
  for await (const { data, errors } of results) {
    if (errors) throw new TerminalError(errors.map((error) => error.message).join("; "));
    if (data) yield data;
  }
}

/** What the server answers to one query or mutation. */
export async function request<Data>(client: Client, query: string, variables: Record<string, unknown>): Promise<Data> {
  for await (const data of dataOf<Data>(client.iterate<Data>({ query, variables }))) return data;
  throw new TerminalError("the server answered nothing");
}

/** The actor that one is there, the templates of the server, and the template that is meant if none is named. Throws if one may create no agent. */
export async function begin(
  client: Client,
  named: string | undefined,
): Promise<{ readonly who: string; readonly templateId: string; readonly templates: readonly string[] }> {
  const { viewer, templates } = await request<Beginning>(client, BEGINNING, {});
  const { actor, roles, tenant, abilities } = viewer;
  const refusal = abilities.find(({ action, isAllowed }) => action === "CREATE_AGENTS" && !isAllowed)?.reason;
  if (typeof refusal === "string") throw new TerminalError(refusal);
  const ids = templates.map(({ templateId }) => templateId);
  const templateId = named ?? ids.find((id) => id === "assistant") ?? ids[0] ?? "";
  return { who: `${actor.name ?? actor.actorId} (${roles.join(", ").toLowerCase()}) of ${tenant}`, templateId, templates: ids };
}

/** What every mutation's payload has. */
export type Payload = {
  readonly userErrors: readonly { readonly message: string; readonly field?: readonly string[] | null }[];
};

/** What a mutation answers; its refusal is thrown. */
export async function mutate<Data extends Record<string, Payload>>(
  client: Client,
  query: string,
  input: Record<string, unknown>,
): Promise<Data> {
  const data = await request<Data>(client, query, { input });
  const problems = Object.values(data).flatMap((payload) => payload.userErrors);
  if (problems.length > 0) throw new RefusedError(problems);
  return data;
}

/** Why it did not work, for the person at the terminal. */
export function describe(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ECONNREFUSED")
    return `no server answers${"port" in error ? ` at port ${String(error.port)}` : ""}: start one with \`npm start\`, or give its address with --url`;
  if (error instanceof Error && /EPROTO|SSL|wrong version number/.test(error.message))
    return "the server there does not speak TLS: use http instead of https";
  if (error instanceof Error) return error.message;
  if (typeof error === "object" && error !== null && "code" in error && "reason" in error) {
    return error.code === 4403
      ? `the server does not admit you (${String(error.reason)}): give a valid --token`
      : `the connection closed (${String(error.code)} ${String(error.reason)})`;
  }
  if (Array.isArray(error)) return error.map((item: { message?: string }) => item.message).join("; ");
  if (typeof error === "object" && error !== null && "error" in error) return describe(error.error);
  return "the server cannot be reached: start one with `npm start`, or give its address with --url";
}
