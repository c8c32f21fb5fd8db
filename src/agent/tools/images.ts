import { createHash } from "node:crypto";
import { imageSize } from "image-size";
import { isJsonObject } from "../../lib/json.ts";
import { headBytes, messageOf } from "../../lib/text.ts";
import { IMAGE_TYPES, type ImageType } from "../models/model.ts";

/** `data` in base64. */
export type GivenImage = { readonly mediaType: ImageType; readonly data: string };

/** An image that a call's result has, as the row of the call names it. */
export type ResultImage = { readonly mediaType: ImageType; readonly digest: string; readonly bytes: number };

/** An image with its digest: the SHA-256 of its bytes, in hex. */
export type DigestedImage = GivenImage & ResultImage;

export function digested({ mediaType, data }: GivenImage): DigestedImage {
  const bytes = Buffer.from(data, "base64");
  return { mediaType, data, digest: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
}

/** The limits of a message, and of a result: images, bytes of one image, bytes of all. They are those of the providers. */
export const IMAGE_LIMITS = { images: 20, imageBytes: 3.75 * 1024 * 1024, bytes: 5 * 1024 * 1024 };

/** The longest side in pixels that providers accept. */
const SIDE = 8_000;

const TYPES: Readonly<Record<ImageType, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** The first bytes of each file type, as Latin-1, with their offset. */
const SIGNATURES: Readonly<Record<ImageType, readonly [number, string]>> = {
  "image/png": [0, "\x89PNG\r\n\x1a\n"],
  "image/jpeg": [0, "\xff\xd8\xff"],
  "image/gif": [0, "GIF8"],
  "image/webp": [8, "WEBP"],
};

/** The first bytes of a file, which contain the size of an image. */
const HEAD_BYTES = 512 * 1024;

export type ImageProblem = { readonly code: "INVALID" | "TOO_LARGE"; readonly message: string };

/** The reason against an image; null for none. One that a provider rejects later would stay in the conversation. */
export function imageProblem({ mediaType, data }: GivenImage): ImageProblem | null {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    return {
      code: "INVALID",
      message: "the image is not base64 (RFC 4648, with padding and without line breaks)",
    };
  if (imageBytes(data) > IMAGE_LIMITS.imageBytes)
    return {
      code: "TOO_LARGE",
      message: `the image has ${imageBytes(data)} bytes, and ${IMAGE_LIMITS.imageBytes} is the most: scale it down`,
    };
  const message = headerProblem(mediaType, data);
  return message === null ? null : { code: "INVALID", message };
}

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

export function imageBytes(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

type ReadImages = { readonly images: readonly GivenImage[]; readonly leftOut: readonly string[] };

export const NO_IMAGES: ReadImages = { images: [], leftOut: [] };

/**
 * The images of a tool's result that a model may read, and a line for each one that is left out. Accepts any value: tools are
 * other people's code.
 */
export function readImages(given: unknown): ReadImages {
  if (given === undefined || given === null) return NO_IMAGES;
  if (!Array.isArray(given)) return { images: [], leftOut: ["[the images of this result are left out: they are no list]"] };
  const images: GivenImage[] = [];
  const leftOut: string[] = [];
  let left = IMAGE_LIMITS.bytes;
  for (const [index, item] of given.entries()) {
    if (index >= 2 * IMAGE_LIMITS.images) {
      leftOut.push(`[${given.length - index} more images are left out: a result has ${IMAGE_LIMITS.images} at most]`);
      break;
    }
    const read = readImage(item);
    const bytes = "data" in read ? imageBytes(read.data) : 0;
    const problem = "data" in read ? (imageProblem(read)?.message ?? roomProblem(images.length, left - bytes)) : read.problem;
    if (problem === null && "data" in read) {
      images.push(read);
      left -= bytes;
    } else leftOut.push(`[image ${index + 1} is left out: ${problem}]`);
  }
  return { images, leftOut };
}

function readImage(item: unknown): GivenImage | { readonly problem: string } {
  if (!isJsonObject(item)) return { problem: "it is not { mediaType, data }" };
  const { mediaType, data } = item;
  const type = IMAGE_TYPES.find((known) => known === mediaType);
  if (typeof data !== "string") return { problem: "it has no data in base64" };
  if (type === undefined)
    return { problem: `models read no ${typeof mediaType === "string" ? headBytes(mediaType, 100) : "image without a type"}` };
  return { mediaType: type, data };
}

function roomProblem(images: number, leftBytes: number): string | null {
  if (images >= IMAGE_LIMITS.images) return `a result has ${IMAGE_LIMITS.images} images at most`;
  return leftBytes < 0 ? `the images of a result have ${IMAGE_LIMITS.bytes} bytes at most` : null;
}
