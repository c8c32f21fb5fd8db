import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasNoBox, testBox } from "../../../support/box.ts";
import { publicNetwork } from "../../../support/public-network.ts";

/** Asks for each address that it is given, and says what came of it. */
const ASKS = `import http from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";
for (const url of process.argv.slice(2))
  console.log(await new Promise((resolve) => {
    const asked = (url.startsWith("https") ? https : http).get(url, async (answer) => resolve(answer.statusCode + " " + (await text(answer)).trim()));
    asked.on("error", (error) => resolve("no connection: " + error.message));
  }));`;

describe.skipIf(hasNoBox)("the network of a box", () => {
  it("is the call's own proxy: what is allowed is reached, what is not is refused with a text and named in the result", async () => {
    const { network, connections, port } = await publicNetwork();
    const { run, workspace } = await testBox({}, {}, network);
    await writeFile(join(workspace, "asks.mjs"), ASKS);
    const env = { PATH: "/usr/bin:/bin", NODE: process.execPath };
    const command = `"$NODE" asks.mjs http://example.org/ http://evil.example/ https://evil.example/ http://127.0.0.1:${port}/; echo $(ls /proc/1/fd); echo $HTTPS_PROXY`;
    const { out, err, notes } = await run(command, { env, network: (host) => host === "example.org" });
    expect(err).toBe("");
    const [allowed, refused, tunnel, direct, descriptors, proxy] = out.split("\n");
    expect(allowed?.trim()).toBe("200");
    expect(refused).toContain("403 evil.example:80 is not among the hosts");
    expect(tunnel).toContain("no connection");
    expect(direct).toMatch(/no connection.*(ECONNREFUSED|fetch failed)/);
    expect(descriptors).toBe("0 1 2 3");
    expect(proxy).toBe("http://127.0.0.1:3128");
    expect(notes.map((note) => note.split(" ")[0])).toEqual(["evil.example:80", "evil.example:443"]);
    expect(connections).toHaveLength(1);
  });

  it("is each call's own, and none where none is given", async () => {
    const { network, connections } = await publicNetwork();
    const { run, workspace } = await testBox({}, { followsLinks: false }, network);
    await writeFile(join(workspace, "asks.mjs"), ASKS);
    const env = { PATH: "/usr/bin:/bin", NODE: process.execPath, http_proxy: "http://127.0.0.1:3128", NODE_USE_ENV_PROXY: "1" };
    const command = `"$NODE" asks.mjs http://a.example/ http://b.example/`;
    const [a, b, none] = await Promise.all([
      run(command, { env, network: (host) => host === "a.example" }),
      run(command, { env, network: (host) => host === "b.example" }),
      run(command, { env }),
    ]);
    expect(a.out).toMatch(/^200\s*\n403 b.example/);
    expect(b.out).toMatch(/^403 a.example.*\n200\s*$/);
    expect(none.out).toMatch(/^no connection.*\nno connection/);
    expect(connections).toHaveLength(2);
  });

  it("is not used by npm to ask for its own newest version, unless the call's variables say so", async () => {
    const { run } = await testBox();
    const says = async (env: Readonly<Record<string, string>>) =>
      (await run("echo $npm_config_update_notifier", { env: { PATH: "/usr/bin:/bin", ...env } })).out;
    expect(await says({})).toBe("false\n");
    expect(await says({ npm_config_update_notifier: "true" })).toBe("true\n");
  });

  it("is opened by nothing of the program's own", async () => {
    const { network } = await publicNetwork();
    const { run, workspace } = await testBox({}, {}, network);
    await writeFile(
      join(workspace, "evil.cjs"),
      `require("node:fs").writeFileSync(${JSON.stringify(join(workspace, "ran"))}, "x")`,
    );
    const env = { PATH: workspace, NODE_OPTIONS: `--require ${join(workspace, "evil.cjs")}`, NODE_CHANNEL_FD: "9" };
    const { out, code } = await run("", { argv: ["/bin/sh", "-c", "echo *; ls /proc/self/fd"], env, network: () => false });
    expect(code).toBe(127);
    expect(out).toBe("evil.cjs\n");
  });
});
