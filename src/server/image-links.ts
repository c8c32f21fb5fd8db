import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Actor } from "../agent/actors/actor.ts";
import type { ImageOfTenant } from "../agent/conversation/images.ts";
import type { AgentServices } from "../agent/loop/scope.ts";
import { IMAGE_TYPES } from "../agent/models/model.ts";
import { withReader } from "../db/connections/reader-limits.ts";
import type { Sql, Statement } from "../db/sql.ts";

export const IMAGES_PATH = "/images/";

const GOOD_MS = 5 * 60_000;
/** Addresses given within this time, in ms, are equal, so that browsers cache the image. */
const SAME_MS = 60_000;

const READ_KEY: Statement<{ key: Uint8Array }, []> = {
  name: "read_images_key",
  text: "SELECT key FROM signing_key WHERE name = 'images'",
};

type LinkedImage = ImageOfTenant & { readonly goodUntil: number };

/**
 * Signed image addresses for browsers, which send no credentials with an <img>. An address names the image, its tenant,
 * its actor, and its expiry 4 to 5 minutes later. All servers of a database sign with its key (HMAC-SHA-256), so that
 * each of them can answer.
 */
export class ImageLinks {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  static async open(sql: Sql): Promise<ImageLinks> {
    const [row] = await sql.query(READ_KEY, []);
    if (row === undefined) throw new Error("the database has no key for signing image URLs: restore its table signing_key");
    return new ImageLinks(row.key);
  }

  path({ id }: Pick<Actor, "id">, { tenant, digest, mediaType }: ImageOfTenant, now: Date): string {
    const goodUntil = Math.floor(now.getTime() / SAME_MS) * SAME_MS + GOOD_MS;
    const claim = Buffer.from(JSON.stringify([tenant, id, digest, mediaType, goodUntil])).toString("base64url");
    return `${IMAGES_PATH}${claim}.${this.#sign(claim).toString("base64url")}`;
  }

  /** Null for an address that has expired, or that no server of this database gave. */
  read(path: string, now: Date): LinkedImage | null {
    const [claim = "", signature = "", ...more] = path.slice(IMAGES_PATH.length).split(".");
    const given = Buffer.from(signature, "base64url");
    const signed = this.#sign(claim);
    if (more.length > 0 || given.length !== signed.length || !timingSafeEqual(given, signed)) return null;
    const [tenant, , digest, type, goodUntil] = JSON.parse(Buffer.from(claim, "base64url").toString()) as readonly unknown[];
    const mediaType = IMAGE_TYPES.find((known) => known === type);
    if (typeof tenant !== "string" || typeof digest !== "string" || typeof goodUntil !== "number") return null;
    return mediaType === undefined || goodUntil <= now.getTime() ? null : { tenant, digest, mediaType, goodUntil };
  }

  #sign(claim: string): Buffer {
    return createHmac("sha256", this.#key).update(claim).digest();
  }
}

type ImageServices = Pick<AgentServices, "reads" | "images" | "clock">;

/** Answers a signed image request: the bytes, of an image type only. */
export async function answerImage(
  { method, url }: Pick<IncomingMessage, "method" | "url">,
  response: ServerResponse,
  links: ImageLinks,
  { reads, images, clock }: ImageServices,
): Promise<void> {
  if (method !== "GET" && method !== "HEAD") return refuse(response, 405, "read images with GET");
  const [path = ""] = (url ?? "").split("?", 1);
  const now = clock.now();
  const image = links.read(path, now);
  if (image === null) return refuse(response, 404, "this image URL is invalid or has expired: query `viewerUrl` again");
  const { tenant, digest, mediaType, goodUntil } = image;
  const data = await withReader({ tenant, signal: null }, () => images.data(reads, tenant, digest));
  if (data === null) return refuse(response, 404, "the image was removed");
  const bytes = Buffer.from(data, "base64");
  response.writeHead(200, {
    "content-type": mediaType,
    "content-length": bytes.length,
    "cache-control": `private, max-age=${Math.floor((goodUntil - now.getTime()) / 1_000)}, immutable`,
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
  response.end(method === "HEAD" ? undefined : bytes);
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    })
    .end(`${text}\n`);
}
