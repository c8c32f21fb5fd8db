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

  /** Refusals come as data. */
  const attempt = async <Data,>(work: Promise<OperationResult<Data>>, refusalsOf: (data: Data) => Refusals): Promise<void> => {
    const { data: answer, error } = await work;
    const refusals = answer === undefined || answer === null ? [] : (refusalsOf(answer) ?? []);
    setProblem([...(error ? [error.message] : []), ...refusals.map(({ message }) => message)].join("; ") || null);
  };
  const sendTo = async (text: string): Promise<void> => {
    let id = agentId;
    if (id === null) {
      const creating = create({ input: { templateId: "assistant", workspace: "examples/workspace" } });
      await attempt(creating, ({ createAgent }) => createAgent.userErrors);
      id = (await creating).data?.createAgent.agent?.id ?? null;
      if (id === null) return;
      rememberAgent(id);
      setAgentId(id);
    }
    await attempt(send({ input: { agentId: id, text } }), ({ sendMessage }) => sendMessage.userErrors);
  };

  return (
    <Conversation
      title={`Triplane with urql${data?.agent ? `: ${data.agent.model}` : ""}`}
      view={watched.data ?? EMPTY}
      status={status}
      problem={problem ?? watched.error?.message ?? null}
      actions={{
        send: (text) => void sendTo(text),
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
