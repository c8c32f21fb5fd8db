import { describe, expect, it } from "vitest";
import { boxPlan } from "../../../../src/agent/workspace/sandbox/box-plan.ts";
import {
  argumentBytes,
  bubblewrapArguments,
  isSeen,
  type Mount,
} from "../../../../src/agent/workspace/sandbox/bubblewrap-arguments.ts";

const MOUNTS: readonly Mount[] = [
  { kind: "writable", source: "/srv/app/data/project", target: "/srv/app/data/project" },
  { kind: "empty folder", target: "/srv/app/data" },
  { kind: "read-only", source: "/usr", target: "/usr" },
  { kind: "read-only", source: "/srv/app", target: "/srv/app" },
  { kind: "link", to: "usr/bin", target: "/bin" },
  { kind: "memory", bytes: 10, target: "/tmp" },
  { kind: "empty file", target: "/srv/app/data/project/.env" },
];

describe("the arguments of a box", () => {
  const args = bubblewrapArguments(
    { folder: "/srv/app/data/project/src" },
    { mounts: MOUNTS, emptyFile: "/empty", sharedMemory: 20 },
  );
  const text = args.join(" ");

  it("have every namespace, no rights, no terminal, and the death of the box with its maker", () => {
    for (const flag of ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net"])
      expect(args).toContain(flag);
    for (const flag of ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]) expect(args).toContain(flag);
    expect(text).toContain("--cap-drop ALL");
    expect(text).toContain("--proc /proc --remount-ro /proc");
    expect(text).toContain("--seccomp 5");
  });

  it("mount what lies in another place after it, and close what was made empty and the root at last", () => {
    const order = [
      "--ro-bind /srv/app /srv/app",
      "--tmpfs /srv/app/data",
      "--bind /srv/app/data/project",
      "--ro-bind /empty /srv/app/data/project/.env",
      "--remount-ro /srv/app/data",
      "--remount-ro / ",
    ];
    const places = order.map((part) => text.indexOf(part));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);
    expect(text).toContain("--symlink usr/bin /bin");
    expect(text).toContain("--perms 1777 --size 10 --tmpfs /tmp");
    expect(text).toContain("--chdir /srv/app/data/project/src");
  });

  it("go to bubblewrap in its own form, whatever stands in them", () => {
    expect(argumentBytes(["--bind", "/a b", "/é\n"]).toString()).toBe("--bind\0/a b\0/é\n\0");
  });

  it("show a path if the nearest mount above it does", () => {
    expect(isSeen(MOUNTS, "/srv/app/config.ts")).toBe(true);
    expect(isSeen(MOUNTS, "/srv/app/data/pglite")).toBe(false);
    expect(isSeen(MOUNTS, "/srv/app/data/project/a")).toBe(true);
    expect(isSeen(MOUNTS, "/home/anna")).toBe(false);
  });

  it("cover what is the server's own where a box sees it, and nothing elsewhere", () => {
    const surroundings = {
      mounts: [{ kind: "read-only" as const, source: "/usr", target: "/usr" }],
      protected: [],
      closed: ["/usr/bin", "/etc", "/usr/no/such"],
    };
    const { mounts, places, absent } = boxPlan(
      { workspace: "/no/workspace", home: "/no/home", covered: [], repositories: [] },
      surroundings,
    );
    expect(mounts.filter(({ kind }) => kind === "empty folder").map(({ target }) => target)).toEqual(["/usr/bin"]);
    expect([places, absent]).toEqual([[], []]);
  });
});
