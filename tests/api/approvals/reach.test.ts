import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { callsWith, playedModel, says } from "../../support/models.ts";
import { ACTORS, approvalOf, ask, office } from "../../support/office.ts";

/** The question about a command line. */
async function asked(command: string) {
  const model = playedModel(
    () => callsWith(["bash_run", { command }]),
    () => says("Done."),
  );
  const { app, as } = await office({}, { model, config: ACTORS });
  await mkdir(join(app.workspace, "src"));
  const { approvalId } = await ask(as("anna"));
  return approvalOf(as("vera"), approvalId);
}

it("a question names the files of its commands, also those outside of the folder, and the hosts of their addresses", async () => {
  const { paths, outsidePaths, hosts } = await asked(
    "cat src/a.txt > /tmp/out.txt && cp src/a.txt ../b.txt && curl --url=https://registry.example.org:8443/x https://api.example.org/y ssh://git@host.example/z",
  );
  expect(paths.flatMap(({ names }) => names)).toContain("src/a.txt");
  expect(outsidePaths).toEqual(["/tmp/out.txt", "../b.txt"]);
  expect(hosts).toEqual(["registry.example.org:8443", "api.example.org", "host.example"]);
});

it("a path outside of the folder is the marked part, also as the target of a copy", async () => {
  const command = "cp src/a.txt /tmp/out.txt && make";
  const { commandParts } = await asked(command);
  const outside = commandParts.filter(({ reason }) => reason === "/tmp/out.txt lies outside of the workspace");
  expect(outside.map(({ start, end }) => command.slice(start, end))).toEqual(["/tmp/out.txt"]);
  expect(commandParts.map(({ start, end }) => command.slice(start, end))).not.toContain("src/a.txt");
});

it("a word that only the shell knows names no host", async () => {
  expect(await asked("curl https://$HOST/x 'not an address' a:b")).toMatchObject({ outsidePaths: [], hosts: [] });
});
