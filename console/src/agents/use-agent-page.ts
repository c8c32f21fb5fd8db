import { useEffect, useRef, useState } from "react";
import { AgentPageDocument, type AgentPageQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";

export type AgentPage = NonNullable<AgentPageQuery["agent"]>;

/** The page is read again at most so often; ms. */
const GATHER_MS = 400;

/** What the conversation does not tell of an agent. It is read again after each change of `version`. */
export function useAgentPage(
  agentId: string,
  version: unknown,
): { readonly agent: AgentPage | "none" | null; readonly problem: string | null; readonly again: () => void } {
  const [agent, setAgent] = useState<AgentPage | "none" | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [tries, setTries] = useState(0);
  const readAt = useRef(-GATHER_MS);
  const asked = useRef(0);
  const shown = useRef(0);
  useEffect(() => {
    const waitMs = Math.max(0, readAt.current + GATHER_MS - performance.now());
    const timer = setTimeout(() => {
      readAt.current = performance.now();
      // An answer that was overtaken by a change is shown as well: in a busy tree, changes never end.
      const number = ++asked.current;
      const isNewest = (): boolean => number > shown.current;
      ask(AgentPageDocument, { id: agentId }).then(
        ({ agent: found }) => {
          if (!isNewest()) return;
          shown.current = number;
          setAgent(found ?? "none");
          setProblem(null);
        },
        (failure: unknown) => (isNewest() ? setProblem(failure instanceof Error ? failure.message : String(failure)) : null),
      );
    }, waitMs);
    return () => clearTimeout(timer);
  }, [agentId, version, tries]);
  return { agent, problem, again: () => setTries((count) => count + 1) };
}
