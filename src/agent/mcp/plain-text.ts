import { headBytes, storable } from "../../lib/text.ts";

/** The longest text, such as a description, in bytes. */
const TEXT_BYTES = 10 * 1024;

/**
 * Characters that people do not see and models read: controls, formats, tags, private and unassigned ones. Lines and tabs
 * stay.
 */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A text from outside without invisible characters, within its bounds. */
export function plainText(text: string): string {
  return headBytes(storable(text).replaceAll(INVISIBLE, ""), TEXT_BYTES);
}

/** True for a text without invisible characters. */
export function isPlain(text: string): boolean {
  return text.search(INVISIBLE) < 0 && storable(text) === text;
}
