import type { KnownFile, Prisma } from "../../db/generated/client.ts";
import { connection, type Connection, type PageArguments } from "../connection.ts";
import type { Context } from "../context.ts";
import type { Order } from "../keyset.ts";

type KnownFileSelection = Pick<Prisma.KnownFileFindManyArgs, "include" | "select">;

const BY_PATH: Order<KnownFile> = {
  name: "knownFiles",
  columns: [{ name: "path", direction: "asc", holds: "text", nulls: "never" }],
};

/** A page of an agent's known files. The caller has checked its visibility. */
export async function knownFilesOf(
  { prisma }: Context,
  agentId: string,
  args: PageArguments,
  selection: KnownFileSelection,
): Promise<Connection<KnownFile>> {
  return connection<KnownFile, Prisma.KnownFileWhereInput, Prisma.KnownFileOrderByWithRelationInput>(args, {
    order: BY_PATH,
    where: { agentId },
    read: async (query) => prisma.knownFile.findMany({ ...selection, ...query }),
    count: async (query) => prisma.knownFile.count(query),
  });
}
