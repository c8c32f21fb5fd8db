import { useState, type ReactNode } from "react";
import type { ResumeStatus } from "@triplane/client";
import {
  after,
  AgentDocument,
  Conversation,
  CreateAgentDocument,
  DecideApprovalDocument,
  EMPTY,
  forgetAgent,
  InterruptAgentDocument,
  knownAgent,
  rememberAgent,
  SendMessageDocument,
  WatchDocument,
  type View,
  type WatchSubscription,
} from "@triplane/example-react-shared";
import { useMutation, useQuery, useSubscription, type OperationResult } from "urql";

type Refusals = readonly { readonly message: string }[] | undefined;

export function App({ status }: { readonly status: ResumeStatus | null }): ReactNode {
  const [agentId, setAgentId] = useState(knownAgent);
  const [problem, setProblem] = useState<string | null>(null);
  const [{ data }] = useQuery({ query: AgentDocument, variables: { id: agentId ?? "" }, pause: agentId === null });
  const [, create] = useMutation(CreateAgentDocument);
  const [, send] = useMutation(SendMessageDocument);
  const [, decide] = useMutation(DecideApprovalDocument);
  const [, interrupt] = useMutation(InterruptAgentDocument);

  // The handler is the reducer of the pages: its result is the data.
  const [watched] = useSubscription<WatchSubscription, View>(
    { query: WatchDocument, variables: { agentId: agentId ?? "", since: "0" }, pause: agentId === null },
    (view = EMPTY, page) => after(view, page.timeline),
  );

  // After an error urql no longer has data: what was seen stays.
  const [view, keep] = useState(EMPTY);
  if (watched.data !== undefined && watched.data !== view) keep(watched.data);

  /** Refusals come as data. True if there is none. */
  const attempt = async <Data,>(work: Promise<OperationResult<Data>>, refusalsOf: (data: Data) => Refusals): Promise<boolean> => {
    const { data: answer, error } = await work;
    const refusals = answer === undefined || answer === null ? [] : (refusalsOf(answer) ?? []);
    const problems = [...(error ? [error.message] : []), ...refusals.map(({ message }) => message)];
    setProblem(problems.join("; ") || null);
    return problems.length === 0;
  };
  const sendTo = async (text: string): Promise<boolean> => {
    let id = agentId;
    if (id === null) {
      const creating = create({ input: { templateId: "assistant", workspace: "examples/workspace" } });
      if (!(await attempt(creating, ({ createAgent }) => createAgent.userErrors))) return false;
      id = (await creating).data?.createAgent.agent?.id ?? null;
      if (id === null) return false;
      rememberAgent(id);
      setAgentId(id);
    }
    return attempt(send({ input: { agentId: id, text } }), ({ sendMessage }) => sendMessage.userErrors);
  };

  return (
    <Conversation
      title={`Triplane with urql${data?.agent ? `: ${data.agent.model}` : ""}`}
      view={view}
      status={status}
      problem={problem ?? watched.error?.message ?? null}
      actions={{
        send: sendTo,
        decide: (approvalId, decision, inputHash) =>
          void attempt(decide({ input: { approvalId, decision, inputHash } }), ({ decideApproval }) => decideApproval.userErrors),
        interrupt: () =>
          void attempt(interrupt({ input: { agentId: agentId ?? "" } }), ({ interruptAgent }) => interruptAgent.userErrors),
        begin: () => {
          forgetAgent();
          location.reload();
        },
      }}
    />
  );
}
