import { skipToken, useMutation, useQuery, useSubscription } from "@apollo/client/react";
import { useReducer, useState, type ReactNode } from "react";
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
} from "@triplane/example-react-shared";

type Refusals = readonly { readonly message: string }[] | undefined;

export function App({ status }: { readonly status: ResumeStatus | null }): ReactNode {
  const [agentId, setAgentId] = useState(knownAgent);
  const [view, take] = useReducer(after, EMPTY);
  const [problem, setProblem] = useState<string | null>(null);
  const { data } = useQuery(AgentDocument, agentId === null ? skipToken : { variables: { id: agentId } });
  const [create] = useMutation(CreateAgentDocument);
  const [send] = useMutation(SendMessageDocument);
  const [decide] = useMutation(DecideApprovalDocument);
  const [interrupt] = useMutation(InterruptAgentDocument);

  useSubscription(WatchDocument, {
    variables: { agentId: agentId ?? "", since: "0" },
    skip: agentId === null,
    // The pages are events, not the state of objects: the view keeps what they amount to.
    fetchPolicy: "no-cache",
    // Two components that watch the same would share one stream, and the second miss what came before.
    context: { queryDeduplication: false },
    ignoreResults: true,
    onData: ({ data: result }) => {
      if (result.data) take(result.data.timeline);
    },
    onError: (error) => setProblem(error.message),
  });

  /** Refusals come as data. True if there is none. */
  const attempt = async (work: Promise<Refusals>): Promise<boolean> => {
    const refusals = await work.catch((error: unknown) => [{ message: String(error) }]);
    setProblem(refusals?.map(({ message }) => message).join("; ") || null);
    return refusals === undefined || refusals.length === 0;
  };
  const sendTo = async (text: string): Promise<Refusals> => {
    let id = agentId;
    if (id === null) {
      const input = { templateId: "assistant", workspace: "examples/workspace" };
      const created = (await create({ variables: { input } })).data?.createAgent;
      id = created?.agent?.id ?? null;
      if (id === null) return created?.userErrors;
      rememberAgent(id);
      setAgentId(id);
    }
    return (await send({ variables: { input: { agentId: id, text } } })).data?.sendMessage.userErrors;
  };

  return (
    <Conversation
      title={`Triplane with Apollo Client${data?.agent ? `: ${data.agent.model}` : ""}`}
      view={view}
      status={status}
      problem={problem}
      actions={{
        send: (text) => attempt(sendTo(text)),
        decide: (approvalId, decision, inputHash) =>
          void attempt(
            decide({ variables: { input: { approvalId, decision, inputHash } } }).then(
              (answer) => answer.data?.decideApproval.userErrors,
            ),
          ),
        interrupt: () =>
          void attempt(
            interrupt({ variables: { input: { agentId: agentId ?? "" } } }).then(
              (answer) => answer.data?.interruptAgent.userErrors,
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
