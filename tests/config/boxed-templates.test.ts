import { expect, it } from "vitest";
import { keyNotes, sandboxLines, sharedFolderNotes, unboxedNotes } from "../../src/config/boxed-templates.ts";
import { presets, type TriplaneConfig } from "../../src/triplane.ts";

const NONE = { isAvailable: false, reason: "bubblewrap is not installed" } as const;
const OLD = { isAvailable: true, path: "/usr/bin/bwrap", version: "0.8.0", followsLinks: true } as const;
const NEW = { ...OLD, version: "0.12.0", followsLinks: false } as const;

type Templates = TriplaneConfig["templates"];
const common = { model: "m", systemPrompt: "You work." } as const;
const plain: Templates = { assistant: common };
const boxed: Templates = { engineer: { ...common, sandbox: "required", permission: presets.workspace } };
const careful: Templates = { engineer: { ...common, sandbox: "none", permission: presets.askAll } };

it("the start says which preset a template has, where its programs run, and whether it asks", () => {
  expect(sandboxLines(NEW, { templates: { ...plain, ...boxed } })).toEqual([
    "bubblewrap 0.12.0: programs of engineer run in boxes",
    "engineer has presets.workspace, in a box: commands and changes of files in its workspace run without asking",
  ]);
  expect(sandboxLines(NONE, { templates: { ...plain, ...careful } })).toEqual([
    "none, so programs of agents run as the server's user: bubblewrap is not installed",
    "engineer has presets.askAll, without a box, since none can be made here: it asks before each command and each change",
  ]);
  expect(sandboxLines(NEW, { templates: { reader: { ...common, permission: presets.readOnly } } })).toEqual([
    "bubblewrap 0.12.0: no template requires one",
    "reader has presets.readOnly, without a box: what is known to only read runs without asking, and it asks before all else",
  ]);
  expect(sandboxLines(NEW, { templates: plain, tenants: { acme: { templates: boxed } } })[0]).toBe(
    "bubblewrap 0.12.0: programs of engineer of acme run in boxes",
  );
});

it("a bubblewrap below 0.12 is said to refuse background programs and to let programs wait, if a template requires boxes", () => {
  expect(sandboxLines(OLD, { templates: boxed })[1]).toBe(
    "bubblewrap is below 0.12: in a workspace with protected or covered paths, such as any git repository, background programs (background: true) are refused, and programs wait for each other. docs/sandbox.md says how to build a newer one, also on Debian 12",
  );
  expect(sandboxLines(OLD, { templates: plain })).toEqual(["bubblewrap 0.8.0: no template requires one"]);
});

it("a permission of one's own is no preset", () => {
  const permission = { ...presets.askAll, allow: ["bash_run(command:git status)"] };
  expect(sandboxLines(NEW, { templates: { own: { ...common, permission } } })).toHaveLength(1);
});

it("settings that need a box and have none are noted, also of a tenant's own template", () => {
  const { engineer } = boxed;
  const unboxed = { ...engineer, ...common, sandbox: "none" } as const;
  const own = { ...unboxed, permission: { ...presets.workspace, deny: ["fs_read(path:keys)"] } };
  const asked = 'in a box only, and the template has no `sandbox: "required"`: they are asked about, as with presets.askAll.';
  expect(
    unboxedNotes({
      templates: { engineer: unboxed },
      tenants: { acme: { templates: { own } } },
      sandbox: { hosts: [], cgroup: { folder: "/x" } },
    }),
  ).toEqual([
    `templates.engineer: presets.workspace lets calls run without asking ${asked}`,
    `tenants.acme.templates.own: autoAllowInBox lets calls run without asking ${asked}`,
    'sandbox.hosts is for programs in boxes, and no template has `sandbox: "required"`: it has no effect.',
    'sandbox.cgroup is for programs in boxes, and no template has `sandbox: "required"`: it has no effect.',
  ]);
  expect(unboxedNotes({ templates: { ...plain, ...boxed }, sandbox: { hosts: ["example.com"] } })).toEqual([]);
  expect(unboxedNotes({ templates: careful, sandbox: {} })).toEqual([]);
});

it("programs that run unasked and without a box are noted if the server's environment has keys of providers (invariant 11)", () => {
  const keys = { anthropic: { apiKey: "k", baseUrl: null }, openai: null };
  const none = { anthropic: null, openai: { apiKey: null, baseUrl: "http://127.0.0.1" } };
  const auto = { ...common, permission: { mode: "auto" } } as const;
  const allowed = { ...common, permission: { allow: ["bash_run"] } };
  const templates: Templates = {
    auto,
    allowed,
    ...plain,
    careful: { ...common, permission: presets.askAll },
    boxed: { ...auto, sandbox: "required" },
    files: { ...auto, tools: ["fs_read"] },
    denied: { ...common, permission: { mode: "auto", denyTools: ["bash_run"] } },
  };
  const notes = keyNotes({ templates, tenants: { acme: { templates: { auto } } } }, keys);
  expect(notes.map((note) => note.split(":")[0])).toEqual(["templates.auto", "templates.allowed", "tenants.acme.templates.auto"]);
  expect(notes[0]).toContain("they can read its environment, with the keys of providers");
  expect(keyNotes({ templates }, none)).toEqual([]);
});

it("a template that runs command lines unasked without a box is noted, if it can be given the folder of one that has a box", () => {
  const reader: Templates = { reader: { ...common, permission: presets.readOnly } };
  const note =
    "templates.reader runs command lines without a box, and can be given the folder of templates.engineer, whose programs have one: what those write there, such as a repository, it reads and obeys outside. Give them folders of their own.";
  expect(sharedFolderNotes({ templates: { ...reader, ...boxed } })).toEqual([note]);
  expect(sharedFolderNotes({ templates: { ...reader, ...boxed }, workspaceRoots: ["/work"] })).toEqual([note]);
  expect(sharedFolderNotes({ templates: { ...reader, ...boxed }, tenants: { acme: { defaultWorkspace: "x" } } })).toEqual([note]);
  // Each agent has a folder of its own, or asks before it runs anything, or all have boxes.
  expect(sharedFolderNotes({ templates: { ...reader, ...boxed }, workspaceRoots: [] })).toEqual([]);
  expect(sharedFolderNotes({ templates: { ...plain, ...boxed } })).toEqual([]);
  expect(sharedFolderNotes({ templates: reader })).toEqual([]);
});
