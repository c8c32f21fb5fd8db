import { forgetDraftsOfOthers } from "./drafts.ts";
import { noteServerDate } from "../design/present.ts";

/** The server's word on this browser: how people sign in, and whether somebody has. */
export type Presence = {
  readonly mode: "none" | "token" | "authenticate";
  readonly isSignedIn: boolean;
  /** The session of this browser; null if it came in without one. */
  readonly sessionId: string | null;
  /** Why a sign-in over this connection is refused; null if it is possible. */
  readonly problem: string | null;
};

export type SignedIn =
  { readonly kind: "done"; readonly returnTo: string } | { readonly kind: "refused"; readonly message: string };

const ADDRESS = "/console/session";
// A page of another site cannot send this header.
const HEADERS = { "x-triplane-console": "1", "content-type": "application/json" };

/** The page that asks for a token. */
export const SIGN_IN_PAGE = "/console/sign-in";

export async function readPresence(): Promise<Presence> {
  const askedMs = Date.now();
  const response = await fetch(ADDRESS, { headers: HEADERS });
  noteServerDate(response.headers.get("date"), askedMs);
  return presenceIn(await answerOf(response));
}

export async function signIn(token: string, returnTo: string): Promise<SignedIn> {
  const answer = await answerOf(
    await fetch(ADDRESS, { method: "POST", headers: HEADERS, body: JSON.stringify({ token, returnTo }) }),
  );
  const refusal = refusalIn(answer);
  if (refusal !== null) return { kind: "refused", message: refusal };
  return { kind: "done", returnTo: textOf(answer["returnTo"]) ?? "/console" };
}

/** Signs out, and shows the form that signs in. */
export async function signOut(): Promise<void> {
  const refusal = refusalIn(await answerOf(await fetch(ADDRESS, { method: "DELETE", headers: HEADERS })));
  if (refusal !== null) throw new Error(refusal);
  forgetDraftsOfOthers(null);
  location.replace(SIGN_IN_PAGE);
}

/** The page that was wanted before the form came: that in its address, else the present one. */
export function wantedPage({ pathname, search, hash }: Location): string {
  if (pathname !== SIGN_IN_PAGE) return `${pathname}${search}${hash}`;
  return new URLSearchParams(search).get("returnTo") ?? "/console";
}

const listeners = new Set<() => void>();

/** An answer said that the server does not know this browser any more. */
export function tellUnknown(): void {
  for (const listener of listeners) listener();
}

export function onUnknown(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

type Answer = Readonly<Record<string, unknown>>;

async function answerOf(response: Response): Promise<Answer> {
  const body: unknown = await response.json();
  return isAnswer(body) ? body : {};
}

function presenceIn(answer: Answer): Presence {
  const refusal = refusalIn(answer);
  if (refusal !== null) throw new Error(refusal);
  const { mode } = answer;
  return {
    mode: mode === "token" || mode === "authenticate" ? mode : "none",
    isSignedIn: answer["isSignedIn"] === true,
    sessionId: textOf(answer["sessionId"]),
    problem: textOf(answer["problem"]),
  };
}

function refusalIn({ error }: Answer): string | null {
  return isAnswer(error) ? (textOf(error["message"]) ?? "the server refused") : null;
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
