import { skipToken, useApolloClient, useMutation, useQuery } from "@apollo/client/react";
import { useState, type ReactNode } from "react";
import { useTimeline } from "@triplane/client/apollo/react";
import type { FormValues } from "@triplane/client/input-form";
import { TREE } from "@triplane/client/tree";
import {
  AgentDocument,
  AllowAlwaysDocument,
  answerRefusals,
  askedIn,
  AskedDocument,
  BeginningDocument,
  CompleteToolCallDocument,
  ConversationScreen,
  CreateAgentDocument,
  DecideApprovalDocument,
  forgetAgent,
  InterruptAgentDocument,
  knownAgent,
  OwnAgentsDocument,
  ProposalDocument,
  rememberAgent,
  SendMessageDocument,
  type Asked,
  type Decision,
  type Proposal,
  type Refusals,
} from "@triplane/example-react-shared";

/** A payload that the server always answers without errors of its own. */
const NO_ANSWER: Refusals = [{ message: "the server answered nothing" }];

export function App(): ReactNode {
  const client = useApolloClient();
  const [agentId, setAgentId] = useState(knownAgent);
  const [problem, setProblem] = useState<string | null>(null);
  const { view, status, error } = useTimeline(agentId);
  const { view: tree, error: treeError } = useTimeline(agentId, TREE);
  const beginning = useQuery(BeginningDocument);
  const actorId = beginning.data?.viewer.actor.id;
  const agents = useQuery(OwnAgentsDocument, actorId === undefined ? skipToken : { variables: { actorId } });
  const { data } = useQuery(AgentDocument, agentId === null ? skipToken : { variables: { id: agentId } });
  const [create] = useMutation(CreateAgentDocument);
  const [send] = useMutation(SendMessageDocument);
  const [decide] = useMutation(DecideApprovalDocument);
  const [allowAlways] = useMutation(AllowAlwaysDocument);
  const [completeCall] = useMutation(CompleteToolCallDocument);
  const [interrupt] = useMutation(InterruptAgentDocument);

  const show = (id: string): void => {
    rememberAgent(id);
    setAgentId(id);
  };

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
    show(id);
    // A failure of it is the list's error.
    if (actorId !== undefined) agents.refetch().catch(() => {});
    const sent = await send({ variables: { input: { agentId: id, text, idempotencyKey } } });
    return sent.data?.sendMessage.userErrors ?? NO_ANSWER;
  };

  const decideAs = async (approvalId: string, decision: Decision, inputHash: string | null): Promise<Refusals> => {
    const decided = await decide({ variables: { input: { approvalId, ...decision, inputHash } } });
    return decided.data?.decideApproval.userErrors ?? NO_ANSWER;
  };
  const give = async (approvalId: string, values: FormValues, inputHash: string | null): Promise<Refusals> => {
    const input = { approvalId, decision: "ALLOW", inputHash, values } as const;
    const decided = await decide({ variables: { input } }).catch((failure: unknown) => String(failure));
    return typeof decided === "string" ? [{ message: decided }] : (decided.data?.decideApproval.userErrors ?? NO_ANSWER);
  };
  const allowFromNowOn = async (approvalId: string, rule: string, inputHash: string | null): Promise<Refusals> => {
    const stored = (await allowAlways({ variables: { input: { approvalId, rule } } })).data?.allowAlways;
    const refusals = stored?.userErrors ?? NO_ANSWER;
    return refusals.length > 0 ? refusals : decideAs(approvalId, { decision: "ALLOW" }, inputHash);
  };
  const answerAs = async (callId: string, result: string): Promise<Refusals> => {
    const completed = (await completeCall({ variables: { input: { callId, result } } })).data?.completeToolCall;
    return completed === undefined ? NO_ANSWER : answerRefusals(completed.userErrors);
  };
  const interruptTree = async (tree: boolean): Promise<Refusals> =>
    (await interrupt({ variables: { input: { agentId: agentId ?? "", tree } } })).data?.interruptAgent.userErrors ?? NO_ANSWER;
  const look = async (approvalId: string): Promise<Asked> =>
    askedIn((await client.query({ query: AskedDocument, variables: { approvalId }, fetchPolicy: "no-cache" })).data);
  const propose = async (approvalId: string, rule: string | null): Promise<Proposal> => {
    const variables = { approvalId, rule };
    const { data: answer } = await client.query({ query: ProposalDocument, variables, fetchPolicy: "no-cache" });
    return answer?.allowRuleProposal ?? { proposal: null, problems: [...NO_ANSWER] };
  };

  return (
    <ConversationScreen
      title="Triplane with Apollo Client"
      beginning={beginning.data ?? null}
      agents={agents.data?.agents.nodes ?? []}
      agentId={agentId}
      agent={agentId === null ? null : (data?.agent ?? null)}
      view={view}
      tree={tree}
      status={status}
      problem={problem ?? error?.message ?? treeError?.message ?? beginning.error?.message ?? agents.error?.message ?? null}
      actions={{
        send: (text, templateId, idempotencyKey) => attempt(sendTo(text, templateId, idempotencyKey)),
        look,
        decide: (approvalId, decision, inputHash) => void attempt(decideAs(approvalId, decision, inputHash)),
        give,
        propose,
        allowAlways: (approvalId, rule, inputHash) => void attempt(allowFromNowOn(approvalId, rule, inputHash)),
        answer: (callId, result) => attempt(answerAs(callId, result)),
        interrupt: () => void attempt(interruptTree(false)),
        interruptAll: () => void attempt(interruptTree(true)),
        begin: () => {
          forgetAgent();
          location.reload();
        },
        open: show,
      }}
    />
  );
}
