import { TextDecoder } from "node:util";
import { accepted, refused, type Result } from "../../../lib/result.ts";

/** The encodings in which text files are edited. UTF-16 is known by its byte order mark. */
export type Encoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be";

/** The text of a file without its byte order mark, and its encoding. */
export type TextContent = { readonly text: string; readonly encoding: Encoding };

/** That of UTF-32 begins like that of UTF-16, and is checked first. */
const MARKS: readonly { readonly encoding: Encoding | "utf-32"; readonly mark: Buffer }[] = [
  { encoding: "utf-32", mark: Buffer.from([0xff, 0xfe, 0, 0]) },
  { encoding: "utf-8-bom", mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: "utf-16le", mark: Buffer.from([0xff, 0xfe]) },
  { encoding: "utf-16be", mark: Buffer.from([0xfe, 0xff]) },
];

export function encodingOf(start: Uint8Array): { readonly encoding: Encoding; readonly markBytes: number } | null {
  const found = MARKS.find(({ mark }) => mark.equals(start.subarray(0, mark.length)));
  if (found === undefined) return { encoding: "utf-8", markBytes: 0 };
  return found.encoding === "utf-32" ? null : { encoding: found.encoding, markBytes: found.mark.length };
}

function decoderName(encoding: Encoding): string {
  return encoding === "utf-8-bom" ? "utf-8" : encoding;
}

const PROBE_BYTES = 8 * 1024;

/** A decoder for display, in which invalid bytes become U+FFFD. Null if the file is no text. */
export function readersDecoder(start: Uint8Array): TextDecoder | null {
  const encoding = encodingOf(start)?.encoding ?? "utf-8";
  const isUtf8 = encoding.startsWith("utf-8");
  return isUtf8 && start.subarray(0, PROBE_BYTES).includes(0) ? null : new TextDecoder(decoderName(encoding));
}

/**
 * The text of a file. Refused if writing it back would change bytes: other encodings, invalid characters, binary
 * content. The reason follows the name of the file.
 */
export function decodeText(content: Uint8Array): Result<TextContent, string> {
  const found = encodingOf(content);
  if (found === null) return refused("is encoded in UTF-32: only UTF-8, and UTF-16 with a byte order mark, can be edited");
  const { encoding, markBytes } = found;
  const bytes = content.subarray(markBytes);
  // A NUL in UTF-8 marks an image, an archive, or UTF-16 without its mark.
  if (markBytes < 2 && bytes.includes(0)) return refused("is not a text file");
  try {
    const text = new TextDecoder(decoderName(encoding), { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? refused("is not a text file") : accepted({ text, encoding });
  } catch {
    const name = encoding.startsWith("utf-8") ? "UTF-8" : "UTF-16";
    return refused(`is not valid ${name}: only UTF-8, and UTF-16 with a byte order mark, can be edited`);
  }
}

export function encodeText({ text, encoding }: TextContent): Buffer {
  const mark = MARKS.find((each) => each.encoding === encoding)?.mark ?? Buffer.alloc(0);
  return Buffer.concat([mark, encodedBytes(text, encoding)]);
}

function encodedBytes(text: string, encoding: Encoding): Buffer {
  switch (encoding) {
    case "utf-8":
    case "utf-8-bom":
      return Buffer.from(text, "utf8");
    case "utf-16le":
      return Buffer.from(text, "utf16le");
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16();
  }
}

export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** A final line feed ends the last line. */
export function lineCount(text: string): number {
  return text === "" ? 0 : lineOf(text, text.length) - (text.endsWith("\n") ? 1 : 0);
}
