import { Deadline } from "../../src/lib/time.ts";
import { ProgramLease, ProcessGroups } from "../../src/agent/workspace/process-groups.ts";
import { mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { availability } from "../../src/agent/workspace/sandbox/available.ts";
import { sandboxFor } from "../../src/agent/workspace/sandbox/sandbox.ts";
import { SandboxRefused } from "../../src/agent/workspace/sandbox/sandbox-refused.ts";
import { unboxed } from "../../src/agent/workspace/sandbox/unboxed.ts";
import { refuseUnboxed, sandboxOf } from "../../src/config/sandbox.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { hasNoBox } from "../support/box.ts";
import { testTemplate } from "../support/template.ts";

const NONE = { read: [], protect: [], hosts: [], cgroup: null };

it("what programs may read besides is named by real paths, and opens nothing of the server's own", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "shared"));
  await mkdir(join(folder, "server", "data"), { recursive: true });
  await symlink(join(folder, "shared"), join(folder, "link"));
  const closed = [join(folder, "server", "data")];
  const read = (...places: string[]) => sandboxOf("triplane.config.ts", folder, { ...NONE, read: places }, closed).read;
  expect(read("shared", "link")).toEqual([await realpath(join(folder, "shared")), await realpath(join(folder, "shared"))]);
  for (const place of [".", "server", "server/data"])
    expect(() => read(place)).toThrow(`sandbox.read.0: ${join(folder, place)} would open ${closed[0]}`);
  expect(() => read("shared", "gone")).toThrow("triplane.config.ts: sandbox.read.1:");
});

it("what programs may not change besides is named by paths inside of a workspace, not by patterns", () => {
  const protect = (place: string) => sandboxOf("triplane.config.ts", "/", { ...NONE, protect: [place] }, []).protect;
  expect([protect("./Makefile"), protect("deploy/")]).toEqual([["Makefile"], ["deploy"]]);
  for (const place of ["/etc", "../x", "a/../..", "."]) expect(() => protect(place)).toThrow("sandbox.protect.0");
  expect(() => protect("*.sh")).toThrow("is a pattern: name each path by itself");
});

it("the control group of boxes is a folder of cgroup v2 that can give limits, with what to do if it is not", async () => {
  const folder = await temporaryFolder();
  const controlGroup = (limits = {}) =>
    sandboxOf("triplane.config.ts", "/", { ...NONE, cgroup: { folder, ...limits } }, []).controlGroup;
  const place = `triplane.config.ts: sandbox.cgroup.folder: ${folder}`;
  expect(controlGroup).toThrow(`${place} is no folder of cgroup v2: it has no file cgroup.controllers (docs/sandbox.md`);
  expect(() => controlGroup({ folder: join(folder, "none") })).toThrow(`${place}/none does not exist (docs/sandbox.md`);
  await writeFile(join(folder, "cgroup.procs"), "1\n");
  expect(controlGroup).toThrow(`${place} is a folder of cgroup v1, which cannot be used: boxes need cgroup v2 (docs/sandbox.md`);
  await rm(join(folder, "cgroup.procs"));
  await writeFile(join(folder, "cgroup.controllers"), "cpu pids\n");
  expect(controlGroup).toThrow(`${place} cannot limit programs, since it has no controllers memory: delegate them`);
  await writeFile(join(folder, "cgroup.controllers"), "cpu memory pids\n");
  await writeFile(join(folder, "cgroup.procs"), "1\n");
  expect(controlGroup).toThrow(`${place} has processes, and so cannot give limits to groups below it: start the server`);
  await writeFile(join(folder, "cgroup.procs"), "");
  expect(controlGroup()).toEqual({ folder: await realpath(folder), limits: { memory: 8 * 1024 ** 3, processes: 4_096 } });
  expect(controlGroup({ memoryMb: 512, processes: 100 })).toMatchObject({ limits: { memory: 512 * 1024 ** 2, processes: 100 } });
});

it("hosts that programs may reach are named as they are, and never all of them", () => {
  const hosts = (...written: string[]) => sandboxOf("triplane.config.ts", "/", { ...NONE, hosts: written }, []).hosts;
  expect(hosts("packages.example.com", "*.example.org:8443")).toMatchObject([
    { hosts: { kind: "named", name: "packages.example.com" }, port: null },
    { hosts: { kind: "below", name: "example.org" }, port: 8443 },
  ]);
  expect(() => hosts("a.example", "*")).toThrow('sandbox.hosts.1: "*": expected a name');
  for (const [url, host] of [
    ["https://example.com/", "example.com"],
    ["http://example.com:8080/a?b", "example.com:8080"],
    ["https://*.example.org", "*.example.org"],
  ])
    expect(() => hosts(url ?? "")).toThrow(`sandbox.hosts.0: "${url}": expected the name of a host, not a URL: write ${host}`);
});

it("a template that requires a box is refused at the start where there is none, with what to install", async () => {
  const none = { isAvailable: false, reason: "bubblewrap is not installed: install the package bubblewrap" } as const;
  const [boxed, plain] = [{ ...testTemplate(), sandbox: "required" as const }, testTemplate()];
  expect(() => refuseUnboxed("triplane.config.ts", [plain], none)).not.toThrow();
  expect(() => refuseUnboxed("triplane.config.ts", [plain, boxed], none)).toThrow(
    'triplane.config.ts: templates.assistant.sandbox is "required", and programs cannot run in a box here: bubblewrap is not installed: install the package bubblewrap',
  );
  const sandboxes = { none: unboxed(new ProcessGroups()), box: null };
  expect(sandboxFor(sandboxes, plain)).toBe(sandboxes.none);
  const program = {
    argv: ["true"] as const,
    folder: "/",
    env: {},
    workspace: "/",
    home: "/",
    look: async () => ({ covered: [], repositories: [] }),
    network: null,
    isBackground: false,
    lease: new ProgramLease(new Deadline(Infinity), { tenant: "one", agent: "a" }),
    answering: async () => true,
  };
  await expect(sandboxFor(sandboxes, boxed).start(program, new AbortController().signal)).rejects.toThrow(SandboxRefused);
});

it.skipIf(hasNoBox)("a server has the boxes of its machine, with the settings of its configuration", async () => {
  const shared = await temporaryFolder();
  const app = await startTestApp({
    template: { sandbox: "required" },
    config: { sandbox: { read: [shared], protect: ["deploy"] } },
  });
  const { sandboxes } = app.services;
  expect(sandboxes.box?.kind).toBe("bubblewrap");
  expect(sandboxFor(sandboxes, { sandbox: "required" })).toBe(sandboxes.box);
  expect(availability()).toMatchObject({ isAvailable: true, version: expect.stringMatching(/^\d+\.\d+/) });
});
