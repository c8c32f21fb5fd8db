import type { Sql } from "../db/sql.ts";
import type { Clock } from "../lib/time.ts";
import type { Context } from "../resolvers/context.ts";
import { ExportLinks } from "./exports/links.ts";
import { ImageLinks } from "./image-links.ts";

/** The signed addresses of this server's files. */
export type Links = { readonly imageLinks: ImageLinks; readonly exportLinks: ExportLinks };

/** The signed addresses, and the functions that give them to actors. */
export async function openLinks(
  sql: Sql,
  clock: Clock,
): Promise<{ readonly links: Links; readonly urls: Pick<Context, "imageUrl" | "exportUrl"> }> {
  const [imageLinks, exportLinks] = await Promise.all([ImageLinks.open(sql), ExportLinks.open(sql)]);
  return {
    links: { imageLinks, exportLinks },
    urls: {
      imageUrl: (actor, image) => imageLinks.path(actor, image, clock.now()),
      exportUrl: (holder, exportId) => exportLinks.path(holder, exportId, clock.now()),
    },
  };
}
