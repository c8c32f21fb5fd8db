import type { JsonObject } from "../../lib/json.ts";
import { onlyReads } from "../policy/commands/secrets.ts";
import { isReading, linesOf, writtenFiles, type RuleValues } from "../policy/rule-values.ts";
import { RISKS, type Risk, type Tool } from "../tools/tool.ts";

/** The tool's risk (LOW for calls and command lines that only read), or that of a hook's `meta` if it is higher. */
export function riskOf(
  tool: Pick<Tool, "risk" | "readOnly" | "reads">,
  values: RuleValues | null,
  meta: JsonObject | null,
): Risk {
  const lines = linesOf(values ?? {});
  const isReader = tool.reads !== null && isReading(tool, values ?? {});
  const isHarmless = isReader || (lines.length > 0 && onlyReads(lines) && writtenFiles(values).length === 0);
  const risk = isHarmless ? "LOW" : tool.risk;
  const given = meta?.["risk"];
  const said = RISKS.find((known) => typeof given === "string" && known === given.toUpperCase()) ?? risk;
  return RISKS.indexOf(said) > RISKS.indexOf(risk) ? said : risk;
}
