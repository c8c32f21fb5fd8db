import { describe, expect, it } from "vitest";
import { withoutSecrets } from "../../src/agent/mcp/server.ts";
import { mcpServersOf } from "../../src/config/mcp-servers.ts";

describe("a secret that a variable puts into the arguments or the path of an address", () => {
  it.fails("is hidden in what the server says", () => {
    const configs = {
      base: { command: "supabase-mcp", args: ["--access-token", "${TOKEN}"] },
      zap: { url: "https://mcp.example.com/s/${TOKEN}/mcp" },
    };
    const { servers } = mcpServersOf("c", "/", configs, {}, { TOKEN: "sbp_0123456789abcdef" });
    for (const { server } of servers) expect(withoutSecrets(server, "bad token sbp_0123456789abcdef")).not.toContain("sbp_");
  });
});
