import { setImmediate as macrotask } from "node:timers/promises";
import { openDatabase } from "../../src/db/database.ts";
import { CHANNELS } from "../../src/events/event.ts";
import { EventLog } from "../../src/events/log.ts";
import { insertAgent } from "../../tests/support/log.ts";

/**
 * A process of trial:embedded: opens the folder, says which marks are in its log, and appends until it is killed, with
 * `acked MARK` for each event that was acknowledged. The fault: it says so before it is written.
 */
const { TRIAL_FOLDER: folder = "", TRIAL_NAME: name = "", TRIAL_FAULT } = process.env;
const database = await openDatabase({ kind: "embedded", folder });
const log = new EventLog(database.sql);
await log.begin("trial");
for (let after = 0; ;) {
  const page = await log.read(
    { tenant: "trial", agentIds: null, withDescendants: false, createdBy: null, channels: CHANNELS, kinds: null },
    after,
  );
  for (const { position, body } of page.events)
    console.log(`has ${position} ${body.kind === "TEXT_CHUNK" ? body.delta : body.kind}`);
  if (page.covered === page.head.position) break;
  after = page.covered;
}
const agent = await insertAgent(log, "trial", "trial");
console.log("ready");
for (let count = 0; ; count += 1) {
  const delta = `${name}.${count}`;
  const written = log.append("trial", [
    { ...agent, events: [{ at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta } }] },
  ]);
  if (TRIAL_FAULT === undefined) await written;
  console.log(`acked ${delta}`);
  await written;
  // The embedded database answers without one turn of the event loop, in which what was said is sent.
  await macrotask();
}
