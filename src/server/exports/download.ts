import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Actor } from "../../agent/actors/actor.ts";
import { withReader } from "../../db/connections/reader-limits.ts";
import { mayReadExport, maySeeExport } from "../../deliveries/exports/commands.ts";
import { findExport, partSizes, readPart, type StoredExport } from "../../deliveries/exports/stored.ts";
import { type Access, headersOf } from "../access.ts";
import { credentialsOf } from "../authenticate.ts";
import type { SharedContext } from "../context.ts";
import { requestSecret } from "../console/session-cookie.ts";
import { presentHolder } from "./holder.ts";
import type { Downloads } from "./downloads.ts";
import type { ExportLink, ExportLinks } from "./links.ts";

export type DownloadServices = Pick<SharedContext, "services"> &
  Access & { readonly exportLinks: ExportLinks; readonly downloads: Downloads };

const TYPES = { CSV: "text/csv; charset=utf-8; header=present", NDJSON: "application/x-ndjson; charset=utf-8" } as const;

/**
 * Answers a signed address of an export with its file. The rights of the holder are asked for now, and again before each
 * part. An interrupted download continues with a range (RFC 9110), on any server: the bytes of a file never change.
 */
export async function answerExport(
  request: IncomingMessage,
  response: ServerResponse,
  services: DownloadServices,
): Promise<void> {
  const { method, url, headers } = request;
  if (method !== "GET" && method !== "HEAD") return refuse(response, 405, "read exports with GET");
  const { clock, reads, sql } = services.services;
  const [path = ""] = (url ?? "").split("?", 1);
  const link = services.exportLinks.read(path, clock.now());
  if (link === null) return refuse(response, 404, "this URL of an export is invalid or has expired: query `viewerUrl` again");
  const sender = headersOf(headers);
  const credentials = credentialsOf(headers.authorization, requestSecret(sender, services));
  const holderNow = (): Promise<Actor | null> => presentHolder(services, sql, link.holder, { credentials, headers: sender });
  const holder = await holderNow();
  if (holder === null)
    return refuse(
      response,
      401,
      services.authentication.kind === "custom"
        ? "download this export with the `Authorization` of the actor who asked for its URL"
        : "the actor of this URL is no longer admitted: sign in, and query `viewerUrl` again",
    );
  const found = await findExport(sql, link.exportId);
  if (found?.state !== "DONE" || !mayHave(holder, found, link)) return refuse(response, 404, "there is no such export for you");
  const { tenant } = found;
  const read = <Result>(work: () => Promise<Result>): Promise<Result> => withReader({ tenant, signal: null }, work);
  const sizes = await read(() => partSizes(reads, found.id));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const etag = `"${found.id}"`;
  const range = rangeOf(headers, etag, total);
  if (range === "UNSATISFIABLE") {
    response.setHeader("content-range", `bytes */${total}`);
    return refuse(response, 416, "the range has no byte of the file");
  }
  const { start, end } = range ?? { start: 0, end: total };
  // A reader who has left closes nothing any more.
  if (response.destroyed) return;
  const close = services.downloads.open(holder);
  if (close === null) {
    response.setHeader("retry-after", "10");
    return refuse(response, 429, "too many downloads of exports are under way: try again when one has ended");
  }
  response.once("close", close);
  response.writeHead(range === null ? 200 : 206, {
    "content-type": TYPES[found.format],
    "content-length": end - start,
    ...(range === null ? {} : { "content-range": `bytes ${start}-${end - 1}/${total}` }),
    "content-disposition": `attachment; filename="${fileName(found)}"`,
    "accept-ranges": "bytes",
    etag,
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
  if (method === "HEAD") return void response.end();
  try {
    await sendParts({ sizes, start, end, response }, async (part) => {
      const actor = part === 0 ? holder : await holderNow();
      return actor !== null && mayHave(actor, found, link) ? read(() => readPart(reads, found.id, part)) : null;
    });
  } catch {
    response.destroy();
  }
}

/** The bytes from `start` on, up to `end` without it. */
type Range = { readonly start: number; readonly end: number };

type Sending = Range & { readonly sizes: readonly number[]; readonly response: ServerResponse };

/** Sends the bytes of a range, part by part. An answer that has begun can only break off: its reader sees that bytes are missing. */
async function sendParts(
  { sizes, start, end, response }: Sending,
  readNow: (part: number) => Promise<Uint8Array | null>,
): Promise<void> {
  let before = 0;
  for (const [part, size] of sizes.entries()) {
    const wanted = { start: Math.max(start - before, 0), end: Math.min(end - before, size) };
    before += size;
    if (wanted.start >= wanted.end) continue;
    const data = await readNow(part);
    if (data === null) return void response.destroy();
    await send(response, data, wanted);
    if (response.destroyed) return;
  }
  response.end();
}

function mayHave(actor: Actor, found: StoredExport, { exportId }: ExportLink): boolean {
  const { createdBy } = found;
  const isSeen = maySeeExport(actor, { tenant: found.tenant, createdBy: createdBy.id, createdByKind: createdBy.kind });
  return found.id === exportId && isSeen && mayReadExport(actor, found);
}

/** Sends a range of the text of a part, as fast as the reader takes it. */
async function send(response: ServerResponse, data: Uint8Array, { start, end }: Range): Promise<void> {
  let before = 0;
  for await (const chunk of Readable.from([data]).pipe(createGunzip()) as AsyncIterable<Buffer>) {
    const wanted = chunk.subarray(Math.max(start - before, 0), Math.max(end - before, 0));
    before += chunk.length;
    if (response.destroyed || before - chunk.length >= end) return;
    if (wanted.length > 0 && !response.write(wanted)) await drained(response);
  }
}

async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]).finally(() => over.abort());
}

/** The wanted bytes (RFC 9110, 14.1.2). Null for the whole file: without a range, and for other forms, such as several ranges. */
function rangeOf(
  { range, "if-range": condition }: IncomingMessage["headers"],
  etag: string,
  total: number,
): Range | "UNSATISFIABLE" | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(range ?? "") ?? [];
  const isInverted = first !== "" && last !== "" && Number(last) < Number(first);
  if ((first === "" && last === "") || isInverted || total === 0 || (condition !== undefined && condition !== etag)) return null;
  const start = first === "" ? Math.max(total - Number(last), 0) : Number(first);
  const end = first === "" || last === "" ? total : Math.min(Number(last) + 1, total);
  return start < end ? { start, end } : "UNSATISFIABLE";
}

function fileName({ what, format, id }: StoredExport): string {
  return `triplane-${what.toLowerCase().replace("_", "-")}-${id}.${format.toLowerCase()}`;
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
