import { LRUCache } from "lru-cache";
import type { Sql, Statement } from "../../db/sql.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { ContentBlock, ImageType } from "../models/model.ts";
import { digested, type ResultImage } from "../tools/images.ts";

/** An image of a message as its row names it: the image itself is a row of its own, which forks share. */
export type StoredImage = {
  readonly type: "image";
  readonly source: {
    readonly type: "kept";
    readonly media_type: ImageType;
    /** The SHA-256 of its bytes, in hex. */
    readonly digest: string;
    readonly bytes: number;
  };
};

/** An image as a model is given it, in base64. */
export type SentImage = Extract<ContentBlock, { type: "image" }>;

type TextBlock = Extract<ContentBlock, { type: "text" }>;

/** The note that a model reads in the place of a removed image. */
export const REMOVED_IMAGE: TextBlock = { type: "text", text: "[an image that was removed]" };

/** A block of a message as its row has it. */
export type StoredBlock = Exclude<ContentBlock, SentImage> | StoredImage;

/** The content blocks of a message's row. Rows are written by the loop and by sendMessage only, so that their form is known. */
export function storedBlocks(content: unknown): readonly StoredBlock[] {
  return content as readonly StoredBlock[];
}

/** A row of the table of images, on its way there: `data` in base64. */
export type ImageRow = { readonly digest: string; readonly data: string };

/** An image as its tenant keeps it, by its digest. */
export type ImageOfTenant = { readonly tenant: string; readonly digest: string; readonly mediaType: ImageType };

/** The most bytes of images that one request carries: providers take some 32 MB, as base64 with all else. */
export const IMAGE_BYTES = 15 * 1024 * 1024;

/** The room for images that were read, of all agents of a server; characters of base64. */
const CACHE_CHARACTERS = 64 * 1024 * 1024;

const READ: Statement<{ data: string }, [tenant: string, digest: string]> = {
  name: "read_image",
  text: "SELECT translate(encode(data, 'base64'), E'\\n', '') AS data FROM image WHERE tenant = $1 AND digest = $2",
};

const PRESENT: Statement<{ digest: string }, [tenant: string, digests: readonly string[]]> = {
  name: "present_images",
  text: "SELECT digest FROM image WHERE tenant = $1 AND digest = ANY ($2)",
};

/** Those of the images that the tenant still has. */
export async function presentImages(sql: Sql, tenant: string, digests: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set((await sql.query(PRESENT, [tenant, digests])).map(({ digest }) => digest));
}

/** The image as its message's row names it, and as its own row holds it. */
export function storedImage(mediaType: ImageType, base64: string): { readonly block: StoredImage; readonly row: ImageRow } {
  const image = digested({ mediaType, data: base64 });
  return { block: storedBlock(image), row: { digest: image.digest, data: base64 } };
}

/** The block of an image that its tenant keeps. */
export function storedBlock({ mediaType, digest, bytes }: ResultImage): StoredImage {
  return { type: "image", source: { type: "kept", media_type: mediaType, digest, bytes } };
}

/** Reads images; those read last stay in memory for an hour at most, within one room for all. */
export class Images {
  readonly #read = new LRUCache<string, string>({
    maxSize: CACHE_CHARACTERS,
    sizeCalculation: (data) => data.length + 1,
    ttl: HOUR_MS,
  });

  /** The image with its data, or a note in its place if it was removed. */
  async read(sql: Sql, tenant: string, { source }: StoredImage): Promise<SentImage | TextBlock> {
    const data = await this.data(sql, tenant, source.digest);
    return data === null ? REMOVED_IMAGE : { type: "image", source: { type: "base64", media_type: source.media_type, data } };
  }

  /** The image in base64; null if the tenant has none of that digest. */
  async data(sql: Sql, tenant: string, digest: string): Promise<string | null> {
    const key = `${digest} ${tenant}`;
    const known = this.#read.get(key);
    if (known !== undefined) return known;
    const [row] = await sql.query(READ, [tenant, digest]);
    if (row !== undefined) this.#read.set(key, row.data);
    return row?.data ?? null;
  }
}
