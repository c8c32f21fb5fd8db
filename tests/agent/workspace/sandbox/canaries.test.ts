import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, open, readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../../support/app.ts";
import { boxServer } from "../../../support/box-server.ts";
import { ended, hasNoBox, testBox } from "../../../support/box.ts";

const SECRET = "CANARY-5f1c";

describe.skipIf(hasNoBox)("a program of a box finds nothing of", () => {
  it("the server's environment, .env, configuration, data and other workspaces, by any path or search", async () => {
    vi.stubEnv("CANARY", SECRET);
    const server = await temporaryFolder();
    const places = [".env", "triplane.config.ts", "data/pglite/1", "data/outputs/o", "workspaces/other/f"];
    for (const place of places) {
      await mkdir(join(server, place, ".."), { recursive: true });
      await writeFile(join(server, place), SECRET);
    }
    const { run, workspace } = await testBox({ closed: [join(server, "data"), join(server, ".env")] });
    const { out } = await run(`
      cat ${places.map((place) => join(server, place)).join(" ")}
      word=${SECRET.slice(0, 6)}; word="$word"${SECRET.slice(6)}
      grep -rsF "$word" / --exclude-dir=usr --exclude-dir=proc; cat /proc/[0-9]*/environ | grep -a "$word"
      ls -A ${server} /home /run /var /srv /mnt /media /sys ${homedir()}/.ssh
      ls -A ${join(workspace, "..")}`);
    expect(
      out
        .trim()
        .split("\n")
        .filter((line) => line !== "" && !line.endsWith(":")),
    ).toEqual(["home", "workspace"]);
  });

  it("the server's parts below a folder that it does see", async () => {
    const opened = await temporaryFolder();
    await mkdir(join(opened, "server"));
    await writeFile(join(opened, "server", "config"), SECRET);
    await writeFile(join(opened, "fine"), "fine");
    const { run } = await testBox({ read: [opened], closed: [join(opened, "server")] });
    const { out } = await run(
      `cat ${opened}/fine; ls -A ${opened}/server; echo x > ${opened}/x; touch ${opened}/server/x; echo end`,
    );
    expect(out).toBe("fineend\n");
  });

  it("sockets of the machine: of a file, without one, and on its loopback address", async () => {
    const heard: string[] = [];
    const { run, workspace } = await testBox();
    const nameless = `triplane-${randomUUID()}`;
    const listeners = await Promise.all(
      [{ path: join(workspace, "socket") }, { path: `\0${nameless}` }, { port: 0, host: "127.0.0.1" }].map(async (address) => {
        const server = createServer(() => heard.push(String(address.path))).listen(address);
        await once(server, "listening");
        onTestFinished(() => void server.close());
        return server;
      }),
    );
    const [, , loopback] = listeners;
    const { port } = (loopback?.address() ?? { port: 0 }) as AddressInfo;
    await writeFile(
      join(workspace, "connect.pl"),
      `use Socket;
      for my $path ("socket", "\\0${nameless}") { socket(my $s, PF_UNIX, SOCK_STREAM, 0) && connect($s, sockaddr_un($path)) and print "connected\\n"; }
      socket(my $s, PF_INET, SOCK_STREAM, 0) or die; connect($s, sockaddr_in(${port}, inet_aton("127.0.0.1"))) and print "connected\\n";
      socket(my $t, PF_INET, SOCK_STREAM, 0) or die; connect($t, sockaddr_in(53, inet_aton("1.1.1.1"))) and print "connected\\n"; print "$!\\n";`,
    );
    const { out } = await run("perl connect.pl; ls -A");
    expect(out).toBe("Network is unreachable\nconnect.pl\nsocket\n");
    expect(heard).toEqual([]);
  });

  it("other processes, their memory and descriptors, and the settings of the machine", async () => {
    const { run } = await testBox();
    const before = await readFile("/proc/sys/kernel/core_pattern", "utf8");
    const { out } = await run(`
      for p in ${process.pid} ${process.ppid}; do ls /proc/$p 2>/dev/null; kill -0 $p 2>/dev/null && echo alive; done
      ls -d /proc/[0-9]* | wc -l; cat /proc/1/comm
      for f in sys/kernel/core_pattern sys/vm/drop_caches sysrq-trigger self/oom_score_adj; do (echo core > /proc/$f) 2>/dev/null && echo wrote $f; done
      (head -c 1 /proc/kcore || head -c 1 /dev/mem || cat /proc/kmsg) 2>/dev/null; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; hostname; cat /proc/sys/kernel/hostname`);
    const [count, first, ...rest] = out.trim().split("\n");
    expect(Number(count)).toBeLessThan(8);
    expect(first).toMatch(/^(sh|bash)$/);
    expect(rest).toEqual([
      "CapEff:\t0000000000000000",
      "CapBnd:\t0000000000000000",
      "NoNewPrivs:\t1",
      "Seccomp:\t2",
      "box",
      "box",
    ]);
    expect(await readFile("/proc/sys/kernel/core_pattern", "utf8")).toBe(before);
  });

  it("descriptors of the server, of its guard, and of whoever started the server", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "secret"), SECRET);
    const secret = await open(join(folder, "secret"));
    const script = await boxServer(
      folder,
      "ls /proc/self/fd /proc/1/fd; for f in 3 4 5 6 7 8 9 20; do cat <&$f; done 2>/dev/null",
    );
    const inherited = Array.from({ length: 17 }, () => "ignore" as const);
    const server = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit", ...inherited, secret.fd] });
    const said = await text(server.stdout as NonNullable<typeof server.stdout>);
    await secret.close();
    // What ls itself opens, and the launcher's own stderr beside the program's.
    expect(said.split("\n")).toEqual(["/proc/1/fd:", "0", "1", "2", "3", "", "/proc/self/fd:", "0", "1", "2", "3", ""]);
  });

  it("files of other users that the server may not read either, and is no other user", async () => {
    const { run, workspace } = await testBox();
    await writeFile(join(workspace, "f"), "x");
    await chmod(join(workspace, "f"), 0o600);
    const { out } = await run(
      "cat f; id -u; cat /etc/shadow /etc/gshadow /etc/ssl/private/* 2>/dev/null; su -c id 2>/dev/null </dev/null; echo end",
    );
    expect(out).toBe(`x${process.getuid?.()}\nend\n`);
  });

  it("an earlier call but what it left in its workspace and its HOME", async () => {
    const { run, start } = await testBox();
    await run("echo kept > ~/kept; echo kept > kept; echo gone > /tmp/gone; echo gone > /dev/shm/gone");
    expect((await run("cat ~/kept kept; ls -A /tmp /dev/shm | grep gone")).out).toBe("kept\nkept\n");
    const [one, other] = await Promise.all([start("echo a > /tmp/x; read; ls /tmp", {}), start("read; ls /tmp | grep -x x", {})]);
    one.process.stdin.write("\n");
    other.process.stdin.write("\n");
    expect([(await ended(one)).out.includes("x\n"), (await ended(other)).out]).toEqual([true, ""]);
  });
});
