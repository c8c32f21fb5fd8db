import { join } from "node:path";
import { ToolOutputs } from "../src/agent/calls/outputs.ts";
import { knownListeners } from "../src/deliveries/listeners.ts";
import { openDatabase } from "../src/db/database.ts";
import { readEnvironment } from "../src/config/environment.ts";
import { planRetention } from "../src/events/retention.ts";
import { planErasure } from "../src/sweeps/erasure/erase.ts";
import { webhookConsumer } from "../src/deliveries/webhooks.ts";
import { loadSettings } from "../src/config/settings.ts";
import { command } from "./command.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * `npm run retention`: what the configuration's retention would remove and erase now, one JSON line a tenant, one a tenant
 * and kind of content, and one for the kept outputs of this server. A dry run: nothing is removed, which the servers do by themselves once an hour. The embedded
 * database must not be in use.
 */
await command(async () => {
  const { retention, webhooks, listeners, environment } = await loadSettings(readEnvironment(process.env));
  const now = new Date();
  const days = (keptMs: number | null): string => {
    const count = Number(((keptMs ?? 0) / DAY_MS).toPrecision(3));
    return keptMs === null ? "for ever" : `for ${count} ${count === 1 ? "day" : "days"}`;
  };
  console.error(
    `Events are kept ${days(retention.eventsMs)}, deltas ${days(retention.deltasMs)}, whole outputs ${days(retention.outputsMs)}, contents of tool calls ${days(retention.toolCallsMs)}, of messages ${days(retention.messagesMs)}, of approvals ${days(retention.approvalsMs)}. What would go now:`,
  );
  const database = await openDatabase(environment.database);
  try {
    const consumers = [...knownListeners(listeners), ...webhooks.map(webhookConsumer(database.sql))];
    for (const removal of await planRetention(database.sql, { policy: retention, consumers }))
      console.log(JSON.stringify(removal));
    for (const erasure of await planErasure(database.sql, { policy: retention, consumers })) console.log(JSON.stringify(erasure));
  } finally {
    await database.close();
  }
  const { outputsMs } = retention;
  const outputs = new ToolOutputs(join(environment.dataFolder, "outputs"));
  console.log(
    JSON.stringify({ outputs: outputsMs === null ? 0 : await outputs.countOlder(new Date(now.getTime() - outputsMs)) }),
  );
});
