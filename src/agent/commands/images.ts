import { imageSize } from "image-size";
import { messageOf } from "../../lib/text.ts";
import type { ImageType } from "../models/model.ts";
import type { CommandRefusal } from "../actors/refusal.ts";

/** `data` in base64. */
export type GivenImage = { readonly mediaType: ImageType; readonly data: string };

/** The limits of a message: images, bytes of one image, bytes of all. They are those of the providers. */
const LIMITS = { images: 20, imageBytes: 3.75 * 1024 * 1024, bytes: 5 * 1024 * 1024 };

/** The longest side in pixels that providers accept. */
const SIDE = 8_000;

const TYPES: Readonly<Record<ImageType, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** Why the images are refused; null if they are not. An image that a provider rejects later would stay in the conversation. */
export function imagesProblem(images: readonly GivenImage[]): CommandRefusal | null {
  if (images.length > LIMITS.images)
    return { code: "TOO_LARGE", field: ["images"], message: `${images.length} images, and ${LIMITS.images} are the most` };
  for (const [index, { mediaType, data }] of images.entries()) {
    const field = ["images", String(index), "data"];
    if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
      return { code: "INVALID", field, message: "the image is not base64 (RFC 4648, with padding and without line breaks)" };
    if (bytesOf(data) > LIMITS.imageBytes)
      return {
        code: "TOO_LARGE",
        field,
        message: `the image has ${bytesOf(data)} bytes, and ${LIMITS.imageBytes} is the most: scale it down`,
      };
    const problem = headerProblem(mediaType, data);
    if (problem !== null) return { code: "INVALID", field, message: problem };
  }
  const bytes = images.reduce((sum, { data }) => sum + bytesOf(data), 0);
  return bytes <= LIMITS.bytes
    ? null
    : {
        code: "TOO_LARGE",
        field: ["images"],
        message: `the images have ${bytes} bytes together, and ${LIMITS.bytes} is the most`,
      };
}

/** The first bytes of each file type, as Latin-1, with their offset. */
const SIGNATURES: Readonly<Record<ImageType, readonly [number, string]>> = {
  "image/png": [0, "\x89PNG\r\n\x1a\n"],
  "image/jpeg": [0, "\xff\xd8\xff"],
  "image/gif": [0, "GIF8"],
  "image/webp": [8, "WEBP"],
};

/** The first bytes of a file, which contain the size of an image. */
const HEAD_BYTES = 512 * 1024;

function headerProblem(mediaType: ImageType, data: string): string | null {
  try {
    // A copy: a small Buffer shares memory, and the library reads beyond its end.
    const head = Uint8Array.from(Buffer.from(data.slice(0, Math.ceil(HEAD_BYTES / 3) * 4), "base64"));
    const [place, signature] = SIGNATURES[mediaType];
    const found = Buffer.from(head.subarray(place, place + signature.length)).toString("latin1");
    if (found !== signature) return `the image is not ${mediaType}: name the type that it has`;
    const { type, width, height } = imageSize(head);
    if (type !== TYPES[mediaType]) return `the image is ${type ?? "unknown"}, not ${mediaType}: name the type that it has`;
    const isReadable = width > 0 && height > 0 && width <= SIDE && height <= SIDE;
    return isReadable ? null : `the image has ${width} × ${height} pixels, and each side may have 1 to ${SIDE}: scale it down`;
  } catch (error) {
    return `the image cannot be read (${messageOf(error)})`;
  }
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
