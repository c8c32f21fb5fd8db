import { execFileSync } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { CAN_MOUNT } from "../support/hung-folder.ts";
import { runFile } from "../support/process.ts";
import { startServerProcess } from "../support/server-process.ts";

/** A folder on a disk of its own, of so many megabytes, with what fills it. */
async function smallDisk(megabytes: number) {
  const disk = join(await temporaryFolder(), "disk");
  await mkdir(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
  const filler = join(disk, "filler");
  return {
    disk,
    // It ends with an error: the disk is full.
    fill: () => void execFileSync("sh", ["-c", 'dd if=/dev/zero of="$0" bs=64k 2>/dev/null || true', filler]),
    free: () => rm(filler),
  };
}

it.skipIf(!CAN_MOUNT)(
  "a full disk is said in the log, with what to do; the server goes on when there is room",
  async () => {
    const { disk, fill, free } = await smallDisk(90);
    const data = { TRIPLANE_DATA_DIR: join(disk, "data") };
    const server = await startServerProcess(data);
    const client = connect(server.url);
    const agent = await client.createAgent();
    fill();
    // Pages of the tables that are there already have room for some.
    const query = `mutation { createAgent(input: { templateId: "assistant" }) { agent { id } } }`;
    const refusal = async (): Promise<unknown> => (await client.post({ query })).errors[0]?.extensions?.["code"];
    await expect.poll(refusal, { interval: 1, timeout: 20_000 }).toBe("STORAGE_UNAVAILABLE");
    await server.says("the database refuses statements: its disk is full: make room there");
    await free();
    expect((await client.turn(agent.id, "hello")).at(-1)).toMatchObject({ __typename: "Done", reason: "COMPLETED" });

    server.child.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    fill();
    const late = runFile("src/main.ts", [], { PORT: "0", DATABASE_URL: "", ...data });
    expect(await late.exited).toBe(1);
    expect(late.output()).toContain("make room on its disk, or set TRIPLANE_DATA_DIR to a folder on another one");
    await rm(data.TRIPLANE_DATA_DIR, { recursive: true });
    fill();
    const fresh = runFile("src/main.ts", [], { PORT: "0", DATABASE_URL: "", ...data });
    expect(await fresh.exited).toBe(1);
    expect(fresh.output()).toMatch(/Triplane did not start: .*make room/);
    expect(fresh.output()).not.toContain("    at ");
  },
  60_000,
);
