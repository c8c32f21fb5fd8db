import { visibleLine } from "../../lib/escape-hidden.ts";
import type { FoundWord } from "./command-line.ts";

/** Schemes that curl also takes with one slash, or with three. */
const LOOSE = "ftps|sftp|scp|tftp|smbs?|smtps?|imaps?|pop3s?|ldaps?|mqtts?|gophers?|rtsp|rtmps?|telnet|dict";
/** The start of an address with its authority. The braces of curl are a part of it, with all that they enclose. */
const ADDRESS = new RegExp(
  String.raw`^(?:https?:(?:\s*[/\\])*|(?:wss?|ftp):(?:\s*[/\\])+|(?:${LOOSE}):/{1,3}|[a-z][a-z0-9+.-]*://)((?:\{[^}]*\}?|[^/?#{])*)`,
  "i",
);
/** An authority that all programs read alike. Some end its userinfo at another character than the last `@`. */
const CLEAR = /^(?:[\w.~+,=:-]*@)?([\p{L}\p{N}\p{M}._-]+|\[[0-9a-f:.]+\])(?:(:\d+)|:)?$/iu;
/** The ends of a long authority that are shown, in characters: a name of a host has at most 253. */
const HEAD = 80;
const TAIL = 300;

/**
 * The host of an address, with its port if it is written. The address is the word, or stands behind `=` of an option or assignment.
 * The authority as written if programs may read different hosts in it: curl and WHATWG's URL differ about `\` and `@`. Null if there
 * is none, or if only the shell knows it.
 */
export function namedHost({ text, isOpen }: FoundWord): string | null {
  const authority = authorityOf(text, isOpen) ?? authorityOf(/^-{0,2}[\w-]+=([^]*)$/.exec(text)?.[1] ?? "", isOpen) ?? "";
  if (authority === "" || (isOpen && /[$`]/.test(authority))) return null;
  const [, host, port = ""] = CLEAR.exec(authority) ?? [];
  return (host === undefined ? null : nameOf(host, port)) ?? asWritten(authority);
}

function authorityOf(text: string, isOpen: boolean): string | null {
  // The quotes of an open word are still there.
  const address = isOpen ? text.replace(/^["']+/, "") : text.trimStart();
  return ADDRESS.exec(address)?.[1] ?? null;
}

/** The host in lower case, an international one in ASCII, since letters of two scripts may look alike; null if it has no such form. */
function nameOf(host: string, port: string): string | null {
  if (/^[\x21-\x7e]+$/.test(host)) return `${host}${port}`.toLowerCase();
  const address = `http://${host}/`;
  const ascii = URL.canParse(address) ? new URL(address).host : "";
  return /^[\w.-]+$/.test(ascii) ? `${ascii}${port}` : null;
}

function asWritten(authority: string): string {
  const characters = Array.from(visibleLine(authority));
  return characters.length <= HEAD + TAIL
    ? characters.join("")
    : `${characters.slice(0, HEAD).join("")}…${characters.slice(-TAIL).join("")}`;
}
