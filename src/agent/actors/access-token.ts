import { createHash, randomBytes } from "node:crypto";
import { ROLES, type Role } from "./actor.ts";

/** The beginning of every access token, by which scanners find one that has leaked. */
const PREFIX = "triplane_";
const FORM = /^triplane_[0-9a-f]{64}$/;

/** A new access token, of 256 random bits. */
export function newAccessToken(): string {
  return `${PREFIX}${newSecret()}`;
}

/** 256 random bits in hex. */
export function newSecret(): string {
  return randomBytes(32).toString("hex");
}

/** True for a text in the form of an access token. Others are looked up nowhere. */
export function isAccessToken(token: string): boolean {
  return FORM.test(token);
}

/** The SHA-256 of a secret, in hex: rows have only that. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** How an actor signed in. `sessionId` is null without a session. `isNarrowed`: the token gives fewer roles than its actor has. */
export type SignIn =
  | { readonly kind: "LOCAL" }
  | { readonly kind: "AUTHENTICATE" }
  | { readonly kind: "CONFIGURED_TOKEN"; readonly sessionId: string | null }
  | {
      readonly kind: "ACCESS_TOKEN";
      readonly accessTokenId: string;
      readonly sessionId: string | null;
      readonly isNarrowed: boolean;
    };

/** Why an actor who signed in like this makes no access token; null if they may. */
export function whyNoAccessToken({ kind }: SignIn): string | null {
  switch (kind) {
    case "LOCAL":
      return "there are no actors: whoever reaches this server is the local administrator. Write `actors` in the configuration first";
    case "AUTHENTICATE":
      return "this server asks the configured `authenticate` who connects: get a token there";
    case "ACCESS_TOKEN":
      return "an access token makes no other: sign in with the token of the configuration";
    case "CONFIGURED_TOKEN":
      return null;
  }
}

/** The roles that are stored with a token and that the actor has now. */
export function rolesOf(stored: readonly string[], present: readonly Role[]): readonly Role[] {
  return ROLES.filter((role) => stored.includes(role) && present.includes(role));
}
