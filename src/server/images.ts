import type { IncomingMessage, ServerResponse } from "node:http";
import type { AgentServices } from "../agent/loop/scope.ts";
import { withReader } from "../db/connections/reader-limits.ts";
import type { ImageLinks } from "./image-links.ts";

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
