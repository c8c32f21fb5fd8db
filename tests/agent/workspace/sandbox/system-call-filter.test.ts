import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  systemCallFilter,
  ABSENT,
  JUDGED,
  REFUSED,
  type Machine,
} from "../../../../src/agent/workspace/sandbox/system-call-filter.ts";
import { hasNoBox, testBox } from "../../../support/box.ts";

const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const I386 = 0x40000003;

/** The kernel's way with a filter, as far as ours goes (linux/bpf_common.h): one system call goes in, an answer comes out. */
function answerOf(
  filter: Buffer,
  { number, architecture, args = [] }: { number: number; architecture: number; args?: number[] },
): string {
  const call = Buffer.alloc(64);
  call.writeUInt32LE(number >>> 0, 0);
  call.writeUInt32LE(architecture >>> 0, 4);
  args.forEach((value, index) => call.writeUInt32LE(value >>> 0, 16 + 8 * index));
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const [code, ifTrue, ifFalse] = [filter.readUInt16LE(at * 8), filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    const constant = filter.readUInt32LE(at * 8 + 4);
    const jump = (holds: boolean): void => void (at += holds ? ifTrue : ifFalse);
    if (code === 0x20) accumulator = call.readUInt32LE(constant);
    else if (code === 0x54) accumulator = (accumulator & constant) >>> 0;
    else if (code === 0x15) jump(accumulator === constant);
    else if (code === 0x35) jump(accumulator >= constant);
    else if (code === 0x45) jump((accumulator & constant) !== 0);
    else if (code === 0x06) return { 0x7fff0000: "allowed", 0x00050001: "EPERM", 0x00050026: "ENOSYS" }[constant] ?? "unknown";
    else throw new Error(`no such instruction: ${code}`);
  }
  throw new Error("the filter has no end");
}

describe.each(["x64", "arm64"] as const)("the filter of system calls for %s", (machine: Machine) => {
  const filter = systemCallFilter(machine);
  const asked = (number: number | null, args: number[] = []): string =>
    answerOf(filter, { number: number ?? -1, architecture: ARCHITECTURES[machine], args });

  it("lets ordinary calls pass, and none of another machine", () => {
    for (const number of [0, 1, 2, 3, 59, 60, 202, 257, 291, 439])
      if (!Object.values({ ...JUDGED, ...REFUSED, ...ABSENT }).some((known) => known[machine] === number)) {
        expect(asked(number), String(number)).toBe("allowed");
        for (const architecture of [I386, ARCHITECTURES[machine === "x64" ? "arm64" : "x64"]])
          expect(answerOf(filter, { number, architecture })).toBe("ENOSYS");
      }
    if (machine === "x64") expect(asked(0x40000000 + 39)).toBe("ENOSYS");
  });

  it("refuses sockets of files and of strange families, and lets those of the internet and of pairs pass", () => {
    const [socket, pair] = [JUDGED.socket[machine], JUDGED.socketpair[machine]];
    const families = Object.fromEntries([1, 2, 10, 16, 17, 31, 38, 40].map((family) => [family, asked(socket, [family, 1, 0])]));
    expect(families).toEqual({
      1: "EPERM",
      2: "allowed",
      10: "allowed",
      16: "allowed",
      17: "EPERM",
      31: "EPERM",
      38: "EPERM",
      40: "EPERM",
    });
    expect(asked(socket, [16, 3, 9])).toBe("EPERM");
    // Flags beside the type: SOCK_CLOEXEC, SOCK_NONBLOCK.
    expect([1, 1 | 0x80800, 2, 2 | 0x80000, 5].map((type) => asked(pair, [1, type]))).toEqual([
      "allowed",
      "allowed",
      "EPERM",
      "EPERM",
      "allowed",
    ]);
    expect(asked(pair, [2, 1])).toBe("EPERM");
  });

  it("refuses namespaces, typing into terminals, and each call of the tables", () => {
    const { clone, ioctl } = JUDGED;
    expect(asked(clone[machine], [0x3d0f00])).toBe("allowed");
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
      expect(asked(clone[machine], [flag | 17])).toBe("EPERM");
    expect([0x5401, 0x5412, 0x541c].map((control) => asked(ioctl[machine], [1, control]))).toEqual(["allowed", "EPERM", "EPERM"]);
    for (const [name, number] of Object.entries(ABSENT)) expect(asked(number[machine]), name).toBe("ENOSYS");
    for (const [name, number] of Object.entries(REFUSED))
      if (number[machine] !== null) expect(asked(number[machine]), name).toBe("EPERM");
  });
});

describe.skipIf(hasNoBox)("system calls in a box", () => {
  it("are refused by the filter as programs see it, and what Node needs works", async () => {
    const { run, workspace } = await testBox();
    const x64 = process.arch === "x64";
    const number = (numbers: Readonly<Record<Machine, number | null>>): number => numbers[x64 ? "x64" : "arm64"] ?? -1;
    const calls = {
      io_uring_setup: number(ABSENT.io_uring_setup),
      clone3: number(ABSENT.clone3),
      unshare: number(REFUSED.unshare),
      ptrace: number(REFUSED.ptrace),
      keyctl: number(REFUSED.keyctl),
      bpf: number(REFUSED.bpf),
      userfaultfd: number(REFUSED.userfaultfd),
      perf_event_open: number(REFUSED.perf_event_open),
      process_vm_readv: number(REFUSED.process_vm_readv),
      ...(x64 ? { x32: 0x40000000 + 39 } : {}),
    };
    const script = `
      use Socket;
      socket(my $s, 1, 1, 0) or print "unix: $!\\n"; socket(my $v, 40, 1, 0) or print "vsock: $!\\n"; socket(my $p, 17, 3, 0) or print "packet: $!\\n";
      socketpair(my $a, my $b, 1, 2, 0) or print "datagrams: $!\\n"; socketpair($a, $b, 1, 1, 0) and print "pair\\n"; socket(my $i, 2, 1, 0) and print "internet\\n";
      ${Object.entries(calls)
        .map(([name, call]) => `syscall(${call}, 0, 0, 0, 0, 0) == -1 and print "${name}: $!\\n";`)
        .join("\n")}`;
    await writeFile(join(workspace, "calls.pl"), script);
    const { out } = await run("perl calls.pl");
    const [no, absent] = ["Operation not permitted", "Function not implemented"];
    expect(out.trim().split("\n")).toEqual([
      `unix: ${no}`,
      `vsock: ${no}`,
      `packet: ${no}`,
      `datagrams: ${no}`,
      "pair",
      "internet",
      `io_uring_setup: ${absent}`,
      `clone3: ${absent}`,
      ...["unshare", "ptrace", "keyctl", "bpf", "userfaultfd", "perf_event_open", "process_vm_readv"].map(
        (name) => `${name}: ${no}`,
      ),
      ...(x64 ? [`x32: ${absent}`] : []),
    ]);
    const node = `console.log(require("node:child_process").execFileSync("echo", ["child"]).toString().trim(), require("node:os").networkInterfaces().lo.length > 0)`;
    expect(await run(`"$NODE" -e '${node}'`, { env: { PATH: "/usr/bin:/bin", NODE: process.execPath } })).toMatchObject({
      out: "child true\n",
      err: "",
    });
  });
});
