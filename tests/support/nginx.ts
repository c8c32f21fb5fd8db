import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";
import { runProgram } from "./process.ts";

/** Debian's package has it; continuous integration does not go without. */
export const hasNoNginx = !existsSync("/usr/sbin/nginx") && process.env["CI"] === undefined;

/** Starts nginx with the file of the docs before servers at these ports. Answers its address. */
export async function startNginx(folder: string, servers: readonly [number, number]): Promise<string> {
  const port = await freePort();
  const site = (await readFile(new URL("../../docs/nginx/triplane.conf", import.meta.url), "utf8"))
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace("127.0.0.1:4001", `127.0.0.1:${servers[0]}`)
    .replace("127.0.0.1:4002", `127.0.0.1:${servers[1]}`)
    .replaceAll("/etc/ssl/triplane", folder);
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1";
  execFileSync("openssl", [...made.split(" "), "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
  await writeFile(join(folder, "site.conf"), site);
  await writeFile(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr notice;
    events { worker_connections 512; }
    http { access_log off; gzip on; gzip_types *; ${temporary.join(" ")} include ${folder}/site.conf; }`,
  );
  const nginx = runProgram("/usr/sbin/nginx", ["-p", folder, "-c", join(folder, "nginx.conf")]);
  await nginx.says("event method");
  onTestFinished(({ task }) => void (task.result?.state === "fail" && console.log(nginx.output())));
  return `https://127.0.0.1:${port}`;
}
