import { skipToken, useMutation, useQuery } from "@apollo/client/react";
import { useState, type ReactNode } from "react";
import { useTimeline } from "@triplane/client/apollo/react";
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

type Refusals = readonly { readonly message: string }[];

/** A payload that the server always answers without errors of its own. */
const NO_ANSWER: Refusals = [{ message: "the server answered nothing" }];

export function App(): ReactNode {
  const [agentId, setAgentId] = useState(knownAgent);
  const [problem, setProblem] = useState<string | null>(null);
  const { view, status, error } = useTimeline(agentId);
  const beginning = useQuery(BeginningDocument);
  const { data } = useQuery(AgentDocument, agentId === null ? skipToken : { variables: { id: agentId } });
  const [create] = useMutation(CreateAgentDocument);
  const [send] = useMutation(SendMessageDocument);
  const [decide] = useMutation(DecideApprovalDocument);
  const [interrupt] = useMutation(InterruptAgentDocument);

  /** Refusals come as data. True if there is none. */
  const attempt = async (work: Promise<Refusals>): Promise<boolean> => {
    const refusals = await work.catch((failure: unknown) => [{ message: String(failure) }]);
    setProblem(refusals.map(({ message }) => message).join("; ") || null);
    return refusals.length === 0;
  };
  const createOf = async (
    templateId: string,
    idempotencyKey: string,
  ): Promise<{ readonly id: string | null; readonly refusals: Refusals }> => {
    const input = { templateId, workspace: "examples/workspace", idempotencyKey };
    const created = (await create({ variables: { input } })).data?.createAgent;
    return { id: created?.agent?.id ?? null, refusals: created?.userErrors ?? NO_ANSWER };
  };
  const sendTo = async (text: string, templateId: string, idempotencyKey: string): Promise<Refusals> => {
    const { id, refusals } = agentId === null ? await createOf(templateId, idempotencyKey) : { id: agentId, refusals: [] };
    if (id === null) return refusals;
    rememberAgent(id);
    setAgentId(id);
    const sent = await send({ variables: { input: { agentId: id, text, idempotencyKey } } });
    return sent.data?.sendMessage.userErrors ?? NO_ANSWER;
  };

  return (
    <ConversationScreen
      title={`Triplane with Apollo Client${data?.agent ? `: ${data.agent.model}` : ""}`}
      beginning={beginning.data ?? null}
      hasAgent={agentId !== null}
      view={view}
      status={status}
      problem={problem ?? error?.message ?? beginning.error?.message ?? null}
      actions={{
        send: (text, templateId, idempotencyKey) => attempt(sendTo(text, templateId, idempotencyKey)),
        decide: (approvalId, decision, inputHash) =>
          void attempt(
            decide({ variables: { input: { approvalId, decision, inputHash } } }).then(
              (answer) => answer.data?.decideApproval.userErrors ?? NO_ANSWER,
            ),
          ),
        interrupt: () =>
          void attempt(
            interrupt({ variables: { input: { agentId: agentId ?? "" } } }).then(
              (answer) => answer.data?.interruptAgent.userErrors ?? NO_ANSWER,
            ),
          ),
        begin: () => {
          forgetAgent();
          location.reload();
        },
      }}
    />
  );
}
