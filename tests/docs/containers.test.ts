import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { readEnvironment, variableNotes } from "../../src/config/environment.ts";
import { loadSettings } from "../../src/config/settings.ts";
import { temporaryFolder } from "../support/app.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (name: string): Promise<string> => readFile(join(ROOT, name), "utf8");

type Service = {
  readonly image: string;
  readonly user?: string;
  readonly init?: boolean;
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly cap_drop?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly secrets?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
};

type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};

/** The instructions of a Dockerfile, continued lines joined, by stage. */
function stagesOf(dockerfile: string): readonly (readonly (readonly [string, string])[])[] {
  const lines = dockerfile.replaceAll(/\\\n\s*/g, "").split("\n");
  const instructions = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => /^(\S+) (.*)$/.exec(line)?.slice(1) as [string, string]);
  const starts = instructions.flatMap(([word], index) => (word === "FROM" ? [index] : []));
  return starts.map((start, nth) => instructions.slice(start, starts[nth + 1]));
}

it("the Dockerfile makes an image of a production install, whose server is nobody's root, says if it is well, and stops in order", async () => {
  const { scripts } = JSON.parse(await read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
  const [build = [], image = []] = stagesOf(await read("Dockerfile"));
  const of = (word: string): readonly string[] => image.filter(([name]) => name === word).map(([, rest]) => rest);
  for (const [from] of [build, image])
    expect(Number(/^node:(\d+)-/.exec(from?.[1] ?? "")?.[1])).toBe(Number(process.versions.node.split(".")[0]));
  const [, script = ""] = /npm run (\S+)/.exec(build.find(([word]) => word === "RUN")?.[1] ?? "") ?? [];
  expect(scripts[script]).toContain("--production");

  expect(of("USER")).toEqual(["triplane"]);
  const [entry = ""] = of("ENTRYPOINT");
  expect((JSON.parse(entry) as string[]).join(" ")).toBe(scripts["start"]);
  const [, probe = "[]"] = /CMD (\[.*\])$/.exec(of("HEALTHCHECK")[0] ?? "") ?? [];
  expect((JSON.parse(probe) as string[]).slice(0, 2)).toEqual(["node", "-e"]);
  expect(probe).toContain("/healthz");
  const [variables = ""] = of("ENV");
  const named = [...variables.matchAll(/(\w+)=(\S*)/g)].map(([, name = "", value = ""]) => [name, value] as const);
  expect(variableNotes(Object.fromEntries(named))).toEqual([]);
  expect(JSON.parse(of("VOLUME")[0] ?? "[]")).toContain(Object.fromEntries(named)["TRIPLANE_DATA_DIR"]);

  const ignored = (await read(".dockerignore")).split("\n");
  for (const secret of ["secrets", ".git", "node_modules", "data*", ".env*", ".triplane"]) expect(ignored).toContain(secret);
});

it("compose.yaml runs two servers on one PostgreSQL, each with a data folder of its own, and nothing more than they need", async () => {
  const { services, volumes, secrets } = parse(await read("compose.yaml"), { merge: true }) as Compose;
  const servers = Object.entries(services).filter(([, { image }]) => image === "triplane");
  expect(servers).toHaveLength(2);
  const data = servers.map(([, { volumes: mounted }]) => mounted.find((mount) => mount.endsWith(":/var/lib/triplane")));
  expect(new Set(data).size).toBe(2);
  const work = servers.map(([, { volumes: mounted }]) => mounted.find((mount) => mount.endsWith(":/srv/work")));
  expect(new Set(work).size).toBe(1);
  expect(new Set(servers.map(([, { ports }]) => ports?.join())).size).toBe(2);
  for (const [name, server] of servers) {
    expect([name, server.read_only, server.init, server.cap_drop, server.privileged]).toEqual([
      name,
      true,
      true,
      ["ALL"],
      undefined,
    ]);
    expect(server.tmpfs).toContain("/tmp");
    expect(server.ports?.every((port) => port.startsWith("127.0.0.1:"))).toBe(true);
    // A server that is told to close is gone after 15 s.
    expect(Number.parseInt(server.stop_grace_period ?? "", 10)).toBeGreaterThan(15);
    expect(variableNotes(server.environment)).toEqual([]);
    expect(server.environment).not.toHaveProperty("DATABASE_URL");
    expect(existsSync(join(ROOT, server.environment["TRIPLANE_CONFIG"] ?? ""))).toBe(true);
  }
  for (const { volumes: mounted, secrets: used = [], environment } of Object.values(services)) {
    for (const mount of mounted) expect(volumes).toHaveProperty([mount.split(":")[0] ?? ""]);
    for (const secret of used) expect(secrets[secret]?.file).toBe(`./secrets/${secret}`);
    for (const [variable, value] of Object.entries(environment))
      if (variable.endsWith("_FILE")) expect(used).toContain(value.replace("/run/secrets/", ""));
  }
});

it("the configuration of the containers starts, with secrets in files, and not without the hash of a token", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "work"));
  await mkdir(join(folder, "containers"));
  await cp(join(ROOT, "examples/scripts"), join(folder, "scripts"), { recursive: true });
  const [wrong, path] = [join(folder, "containers/wrong.config.ts"), join(folder, "containers/triplane.config.ts")];
  const written = (hash: string): string =>
    config.replaceAll("/srv/work", join(folder, "work")).replace('process.env["ADMIN_TOKEN_HASH"] ?? ""', JSON.stringify(hash));
  const config = await read("examples/containers/triplane.config.ts");
  await writeFile(join(folder, "database_url"), "postgresql://triplane:secret@postgres/triplane\n");
  const environment = { HOST: "0.0.0.0", DATABASE_URL_FILE: join(folder, "database_url"), TRIPLANE_CONFIG: path };
  await writeFile(wrong, written(""));
  await expect(loadSettings(readEnvironment({ ...environment, TRIPLANE_CONFIG: wrong }))).rejects.toThrow("actors.0.tokenHash");
  await writeFile(path, written("0".repeat(64)));
  const { notes, environment: taken } = await loadSettings(readEnvironment(environment));
  expect(taken.database).toMatchObject({ kind: "postgres", url: "postgresql://triplane:secret@postgres/triplane" });
  expect(notes).toEqual([
    expect.stringContaining("ANTHROPIC_API_KEY is not set"),
    expect.stringContaining("HOST=0.0.0.0: whoever is on the network"),
  ]);
});
