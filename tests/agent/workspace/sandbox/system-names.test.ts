import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SystemNames } from "../../../../src/agent/workspace/sandbox/system-names.ts";
import { temporaryFolder } from "../../../support/app.ts";

it("the copy of the system's names can be removed by the next server, also of folders that nobody may write", async () => {
  const folder = await temporaryFolder();
  const [source, copies] = [join(folder, "etc"), join(folder, "copies")];
  const extracted = join("pki", "ca-trust", "extracted");
  await mkdir(join(source, extracted, "pem"), { recursive: true });
  await writeFile(join(source, extracted, "pem", "a.pem"), "certificate");
  await chmod(join(source, extracted, "pem", "a.pem"), 0o644);
  const closed = [join(source, extracted, "pem"), join(source, extracted)];
  for (const each of closed) await chmod(each, 0o555);
  const copy = new SystemNames(copies, source).current();
  expect(await readFile(join(copy, extracted, "pem", "a.pem"), "utf8")).toBe("certificate");
  for (const each of [extracted, join(extracted, "pem")]) expect((await stat(join(copy, each))).mode & 0o777).toBe(0o755);
  new SystemNames(copies, source).current();
  expect(await readdir(copies)).toHaveLength(1);
  for (const each of closed) await chmod(each, 0o755);
});
