import { countForkPoints, readForkPoints, type ForkPoint } from "../agent/commands/fork-agent.ts";
import { checkPage, DEFAULT_PAGE, MOST_COUNTED, pageOfRows, type Connection, type PageArguments } from "./connection.ts";
import type { Context } from "./context.ts";
import { readPlace, type Order } from "./keyset.ts";

const NEWEST_FIRST: Order<ForkPoint> = {
  name: "forkPoints",
  columns: [{ name: "index", direction: "desc", holds: "integer", nulls: "never" }],
};

/** The fork points of an agent, newest first. The caller has checked its visibility. */
export async function forkPointsOf({ services }: Context, agentId: string, args: PageArguments): Promise<Connection<ForkPoint>> {
  checkPage(args);
  const isBackwards = typeof args.last === "number";
  const size = args.last ?? args.first ?? DEFAULT_PAGE;
  const found = await readForkPoints(services.reads, agentId, {
    before: indexIn(args.after, "after"),
    after: indexIn(args.before, "before"),
    take: size + 1,
    from: isBackwards ? "oldest" : "newest",
  });
  return {
    ...pageOfRows(args, NEWEST_FIRST, found, size),
    count: () => countForkPoints(services.reads, agentId, MOST_COUNTED),
  };
}

function indexIn(place: string | null | undefined, argument: string): number | null {
  return typeof place === "string" ? Number(readPlace(NEWEST_FIRST, place, argument)[0]) : null;
}
