import { useState, type ReactNode } from "react";
import { useTimeline } from "@triplane/client/urql/react";
import {
  AgentDocument,
  BeginningDocument,
  ConversationScreen,
  CreateAgentDocument,
  DecideApprovalDocument,
  forgetAgent,
  InterruptAgentDocument,
  knownAgent,
  rememberAgent,
  SendMessageDocument,
} from "@triplane/example-react-shared";
import { useMutation, useQuery, type OperationResult } from "urql";

type Refusals = readonly { readonly message: string }[];

export function App(): ReactNode {
  const [agentId, setAgentId] = useState(knownAgent);
  const [problem, setProblem] = useState<string | null>(null);
  const { view, status, error } = useTimeline(agentId);
  const [beginning] = useQuery({ query: BeginningDocument });
  const [{ data }] = useQuery({ query: AgentDocument, variables: { id: agentId ?? "" }, pause: agentId === null });
  const [, create] = useMutation(CreateAgentDocument);
  const [, send] = useMutation(SendMessageDocument);
  const [, decide] = useMutation(DecideApprovalDocument);
  const [, interrupt] = useMutation(InterruptAgentDocument);

  /** Refusals come as data. True if there is none. */
  const attempt = async <Data,>(work: Promise<OperationResult<Data>>, refusalsOf: (data: Data) => Refusals): Promise<boolean> => {
    const { data: answer, error: failure } = await work;
    const refusals = answer === undefined || answer === null ? [] : refusalsOf(answer);
    const problems = [...(failure ? [failure.message] : []), ...refusals.map(({ message }) => message)];
    setProblem(problems.join("; ") || null);
    return problems.length === 0;
  };
  const createOf = async (templateId: string, idempotencyKey: string): Promise<string | null> => {
    const creating = create({ input: { templateId, workspace: "examples/workspace", idempotencyKey } });
    await attempt(creating, ({ createAgent }) => createAgent.userErrors);
    const { data: created } = await creating;
    return created?.createAgent.agent?.id ?? null;
  };
  const sendTo = async (text: string, templateId: string, idempotencyKey: string): Promise<boolean> => {
    const id = agentId ?? (await createOf(templateId, idempotencyKey));
    if (id === null) return false;
    rememberAgent(id);
    setAgentId(id);
    return attempt(send({ input: { agentId: id, text, idempotencyKey } }), ({ sendMessage }) => sendMessage.userErrors);
  };

  return (
    <ConversationScreen
      title={`Triplane with urql${data?.agent ? `: ${data.agent.model}` : ""}`}
      beginning={beginning.data ?? null}
      hasAgent={agentId !== null}
      view={view}
      status={status}
      problem={problem ?? error?.message ?? beginning.error?.message ?? null}
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
