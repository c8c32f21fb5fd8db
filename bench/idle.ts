import { setTimeout as delay } from "node:timers/promises";
import type { Figure } from "./main.ts";
import { startServerProcess } from "./server-process.ts";
import { subscribe } from "./subscriber.ts";

const SUBSCRIPTIONS = 2_000;
const AGENTS = 10_000;
const WARM = 200;
const WARM_AGENTS = 500;
const QUERY = "subscription { monitor { cursor events { kind } } }";

/** Server memory for one idle subscription on a socket of its own, and for one parked agent. */
export async function idle(url: string): Promise<Figure[]> {
  const server = await startServerProcess("triplane-server.ts", url);
  const memory = async (): Promise<number> => {
    await delay(1_000);
    return server.memory();
  };
  const open = async (count: number) => {
    const sockets = [];
    for (let index = 0; index < count; index += 1) sockets.push(await subscribe(server.port, QUERY, {}));
    return sockets;
  };
  const warm = await open(WARM);
  const before = await memory();
  const sockets = await open(SUBSCRIPTIONS);
  const subscription = (await memory()) - before;
  for (const socket of [...warm, ...sockets]) socket.terminate();
  await server.request({ ask: "park", agents: WARM_AGENTS });
  const unparked = await memory();
  await server.request({ ask: "park", agents: WARM_AGENTS + AGENTS });
  const parked = (await memory()) - unparked;
  await server.stop();
  return [
    { name: "idle subscription", value: subscription / SUBSCRIPTIONS / 1_024, unit: "KB", baseline: null, ratio: null },
    { name: "parked agent", value: Math.max(0, parked) / AGENTS / 1_024, unit: "KB", baseline: null, ratio: null },
  ];
}
