import { spawn } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { median } from "../tests/support/median.ts";
import type { Figure } from "./figure.ts";
import { insertion } from "./insertion.ts";

const PROGRAMS = 200;

/** The speed of the machine now, for whoever reads the other figures: ms of a durable INSERT, and of a program that does nothing. */
export async function machine(url: string): Promise<Figure[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const insert = await insertion(client);
  await client.end();
  const programs: number[] = [];
  for (let index = 0; index < PROGRAMS; index += 1) {
    const began = performance.now();
    await once(spawn("/bin/true", { env: {}, stdio: ["pipe", "pipe", "pipe"] }), "exit");
    programs.push(performance.now() - began);
  }
  return [
    { name: "machine, an INSERT", value: insert, unit: "ms", baseline: null, ratio: null },
    { name: "machine, a program", value: median(programs), unit: "ms", baseline: null, ratio: null },
  ];
}
