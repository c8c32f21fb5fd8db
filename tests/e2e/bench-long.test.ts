import { expect, it } from "vitest";
import { converse } from "../../bench/long/long.ts";
import type { Summariser } from "../../bench/long/script.ts";
import { testDatabaseUrl } from "../support/database.ts";

const conversation = { turns: 200, window: 40_000 };

it.each<Summariser>(["keeps", "forgets"])(
  "the long conversation of the bench has no faults when it is short, with a summariser that %s facts",
  async (summariser) => {
    const { faults, compactions, seen, heap } = await converse(await testDatabaseUrl(), summariser, conversation);
    expect(faults).toEqual([]);
    expect(compactions["SUMMARY"]).toBeGreaterThan(1);
    expect(seen.breaks).toBeLessThanOrEqual(Object.values(compactions).reduce((sum, count) => sum + count, 0));
    expect(seen.longest).toBeLessThan(conversation.window);
    expect(heap).toHaveLength(10);
  },
  120_000,
);
