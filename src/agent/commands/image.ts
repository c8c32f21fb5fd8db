import type { ContentBlock, ImageType } from "../models/model.ts";
import type { CommandRefusal } from "./refusal.ts";

/** An image that a person sends: `data` in base64. */
export type SentImage = { readonly mediaType: ImageType; readonly data: string };

/** The most images of one message, and the most bytes of one and of all of them: what the providers take. */
const LIMITS = { images: 20, imageBytes: 3.75 * 1024 * 1024, bytes: 5 * 1024 * 1024 };

/** How the files of each type begin, in base64. WebP is told by its first four bytes, which it shares with other RIFF files. */
const BEGINNINGS: Readonly<Record<ImageType, string>> = {
  "image/png": "iVBORw0KGg",
  "image/jpeg": "/9j/",
  "image/gif": "R0lGOD",
  "image/webp": "UklGR",
};

/** Why the images cannot be sent; null where they can. What a provider would refuse later would stay in the conversation. */
export function imagesProblem(images: readonly SentImage[]): CommandRefusal | null {
  if (images.length > LIMITS.images)
    return { code: "TOO_LARGE", field: ["images"], message: `${images.length} images, and ${LIMITS.images} are the most` };
  for (const [index, { mediaType, data }] of images.entries()) {
    const field = ["images", String(index), "data"];
    if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
      return { code: "INVALID", field, message: "the image is not base64 (RFC 4648, with padding and without line breaks)" };
    if (!data.startsWith(BEGINNINGS[mediaType]))
      return { code: "INVALID", field, message: `the image does not begin as ${mediaType} does: name the type that it has` };
    if (bytesOf(data) > LIMITS.imageBytes)
      return {
        code: "TOO_LARGE",
        field,
        message: `the image has ${bytesOf(data)} bytes, and ${LIMITS.imageBytes} is the most: scale it down`,
      };
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

/** The image as the conversation keeps it. */
export function imageBlock({ mediaType, data }: SentImage): ContentBlock {
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
