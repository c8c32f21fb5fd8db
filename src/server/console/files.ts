import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import type { ConsoleState } from "./build.ts";

/** The path of the console. Every path below it is the console's. */
export const CONSOLE_PATH = "/console";

/** Files below this folder are named by the hash of their content. */
const HASHED = "assets/";
const INDEX = "index.html";
const NEVER_CHANGES = "public, max-age=31536000, immutable";
const ASK_AGAIN = "no-cache";
/** The seconds after which the page of a console under construction asks again. */
const RELOAD_S = 1;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** The encodings that a build prepares, best first, with the ending of their files. */
const ENCODINGS = [
  { encoding: "br", ending: ".br" },
  { encoding: "gzip", ending: ".gz" },
] as const;

type Encoding = (typeof ENCODINGS)[number]["encoding"];

/** The content that a page of the console may load: its own files, and no inline script or style. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The headers of every answer of the console. */
const CONSOLE_HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** One file in all its encodings. */
type ServedFile = {
  readonly type: string;
  readonly etag: string;
  readonly cacheControl: string;
  readonly content: Buffer;
  readonly encoded: ReadonlyMap<Encoding, Buffer>;
};

type ServedFiles = ReadonlyMap<string, ServedFile>;

/** Serves a built console from memory. A request names an entry of a map, and never a path of the disk. */
export class ConsoleFiles {
  readonly #state: () => ConsoleState;
  #loaded: { readonly folder: string; readonly files: Promise<ServedFiles> } | null = null;

  constructor(state: () => ConsoleState) {
    this.#state = state;
  }

  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return plain(response, 405, "the console is read by GET");
    }
    const state = this.#state();
    switch (state.kind) {
      case "building":
        response.setHeader("retry-after", String(RELOAD_S));
        return page(response, 503, "The console is being built.", "This page reloads by itself. The API is ready.", true);
      case "unavailable":
        return page(response, 503, "The console is not available.", state.reason, false);
      case "built": {
        const files = await this.#filesOf(state.folder);
        const name = nameOf(path);
        const file = files.get(name) ?? (isNavigation(request, name) ? files.get(INDEX) : undefined);
        if (file === undefined) return plain(response, 404, "the console has no such file");
        return send(request, response, file);
      }
    }
  }

  #filesOf(folder: string): Promise<ServedFiles> {
    if (this.#loaded?.folder !== folder) {
      const files = load(folder);
      const loaded = { folder, files };
      this.#loaded = loaded;
      // The next request tries again.
      files.catch(() => (this.#loaded === loaded ? (this.#loaded = null) : null));
    }
    return this.#loaded.files;
  }
}

/** Opens the console for browsers that ask for `/`. Returns false for other clients. */
export function leadToConsole({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  const isBrowser = method === "GET" && (headers.accept ?? "").includes("text/html");
  if (isBrowser) response.writeHead(302, { location: CONSOLE_PATH, vary: "accept" }).end();
  return isBrowser;
}

async function load(folder: string): Promise<ServedFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const contents = new Map(
    await Promise.all(paths.map(async (path) => [relative(folder, path).replaceAll(sep, "/"), await readFile(path)] as const)),
  );
  const files = new Map<string, ServedFile>();
  for (const [name, content] of contents) {
    const type = TYPES[extname(name)];
    // The manifest of the build is for tests.
    if (type === undefined || name.startsWith(".")) continue;
    const encoded = ENCODINGS.flatMap(({ encoding, ending }) => {
      const bytes = contents.get(name + ending);
      return bytes === undefined ? [] : [[encoding, bytes] as const];
    });
    files.set(name, {
      type,
      etag: createHash("sha256").update(content).digest("base64url").slice(0, 22),
      cacheControl: name.startsWith(HASHED) ? NEVER_CHANGES : ASK_AGAIN,
      content,
      encoded: new Map(encoded),
    });
  }
  return files;
}

/** The name of a file in the console: the path without the console's own, which is that of the page. */
function nameOf(path: string): string {
  return path.slice(CONSOLE_PATH.length).replace(/^\//, "") || INDEX;
}

/** True if a browser opens an address of the console's own, which the page reads. */
function isNavigation({ headers }: IncomingMessage, name: string): boolean {
  return !name.startsWith(HASHED) && (headers.accept ?? "").includes("text/html");
}

function send(request: IncomingMessage, response: ServerResponse, file: ServedFile): void {
  const chosen = ENCODINGS.find(({ encoding }) => file.encoded.has(encoding) && accepts(request, encoding))?.encoding ?? null;
  const content = (chosen === null ? undefined : file.encoded.get(chosen)) ?? file.content;
  // Each encoding is a representation of its own (RFC 9110, 8.8.3).
  const etag = `"${file.etag}${chosen === null ? "" : `-${chosen}`}"`;
  const headers = { ...CONSOLE_HEADERS, "cache-control": file.cacheControl, etag, vary: "accept-encoding" };
  if (isKnown(request.headers["if-none-match"], etag)) return void response.writeHead(304, headers).end();
  response.writeHead(200, {
    ...headers,
    "content-type": file.type,
    "content-length": content.length,
    ...(chosen === null ? {} : { "content-encoding": chosen }),
  });
  response.end(request.method === "HEAD" ? undefined : content);
}

/** True if the client takes the encoding. A quality of 0 refuses it. */
function accepts({ headers }: IncomingMessage, encoding: Encoding): boolean {
  return (headers["accept-encoding"] ?? "")
    .split(",")
    .map((each) => each.split(";").map((part) => part.trim().toLowerCase()))
    .some(([name, quality]) => name === encoding && !/^q=0(\.0*)?$/.test(quality ?? ""));
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? "").split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
}

function page(response: ServerResponse, status: number, title: string, text: string, reloads: boolean): void {
  const reload = reloads ? `<meta http-equiv="refresh" content="${RELOAD_S}">` : "";
  response
    .writeHead(status, { ...CONSOLE_HEADERS, "content-type": "text/html; charset=utf-8", "cache-control": "no-store" })
    .end(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${reload}<title>Triplane</title></head><body><h1>${title}</h1><p>${escaped(text)}</p></body></html>\n`,
    );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function plain(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { ...CONSOLE_HEADERS, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" })
    .end(`${text}\n`);
}
