import { openDatabase } from "../src/db/database.ts";
import { readEnvironment } from "../src/environment.ts";
import { planRetention } from "../src/events/retention.ts";
import { listenerReaders } from "../src/agent/listeners.ts";
import { webhookConsumer } from "../src/server/webhooks.ts";
import { loadSettings } from "../src/settings.ts";

/**
 * `npm run retention`: what the configuration's retention would remove now, one JSON line a tenant. A dry run: nothing is
 * removed, which the servers do by themselves once an hour. The embedded database must not be in use.
 */
const { retention, webhooks, listeners, environment } = await loadSettings(readEnvironment(process.env));
const readers = [...listenerReaders(listeners), ...webhooks.map(webhookConsumer)];
const database = await openDatabase(environment.database);
try {
  console.error(`kept: ${JSON.stringify(retention)} (ms; null for ever)`);
  for (const removal of await planRetention(database.sql, { policy: retention, readers, now: new Date() }))
    console.log(JSON.stringify(removal));
} finally {
  await database.close();
}
