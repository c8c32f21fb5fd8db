import type { JsonObject } from "../../lib/json.ts";
import { onlyReads } from "../policy/commands/secrets.ts";
import { linesOf, writtenFiles, type RuleValues } from "../policy/rule-values.ts";
import { RISKS, type Risk, type Tool } from "../tools/tool.ts";

/** The tool's risk (LOW for command lines that only read), or that of a hook's `meta` if it is higher. */
export function riskOf(tool: Pick<Tool, "risk">, values: RuleValues | null, meta: JsonObject | null): Risk {
  const lines = linesOf(values ?? {});
  const isReading = lines.length > 0 && onlyReads(lines) && writtenFiles(values).length === 0;
  const risk = isReading ? "LOW" : tool.risk;
  const given = meta?.["risk"];
  const said = RISKS.find((known) => typeof given === "string" && known === given.toUpperCase()) ?? risk;
  return RISKS.indexOf(said) > RISKS.indexOf(risk) ? said : risk;
}
