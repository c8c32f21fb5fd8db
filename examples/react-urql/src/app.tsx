import { useState, type ReactNode } from "react";
import { useTimeline } from "@triplane/client/urql/react";
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
import { useClient, useMutation, useQuery, type OperationResult } from "urql";

/** Asked of the server each time: what stands in the cache may be old. */
const FRESH = { requestPolicy: "network-only" } as const;

export function App(): ReactNode {
  const client = useClient();
  const [agentId, setAgentId] = useState(knownAgent);
  const [problem, setProblem] = useState<string | null>(null);
  const { view, status, error } = useTimeline(agentId);
  const { view: tree, error: treeError } = useTimeline(agentId, TREE);
  const [beginning] = useQuery({ query: BeginningDocument });
  const actorId = beginning.data?.viewer.actor.id;
  const [agents, readAgents] = useQuery({
    query: OwnAgentsDocument,
    variables: { actorId: actorId ?? "" },
    pause: actorId === undefined,
  });
  const [{ data }] = useQuery({ query: AgentDocument, variables: { id: agentId ?? "" }, pause: agentId === null });
  const [, create] = useMutation(CreateAgentDocument);
  const [, send] = useMutation(SendMessageDocument);
  const [, decide] = useMutation(DecideApprovalDocument);
  const [, allowAlways] = useMutation(AllowAlwaysDocument);
  const [, completeCall] = useMutation(CompleteToolCallDocument);
  const [, interrupt] = useMutation(InterruptAgentDocument);

  const show = (id: string): void => {
    rememberAgent(id);
    setAgentId(id);
  };

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
    show(id);
    readAgents(FRESH);
    return attempt(send({ input: { agentId: id, text, idempotencyKey } }), ({ sendMessage }) => sendMessage.userErrors);
  };

  const decideAs = (approvalId: string, decision: Decision, inputHash: string | null): Promise<boolean> =>
    attempt(decide({ input: { approvalId, ...decision, inputHash } }), ({ decideApproval }) => decideApproval.userErrors);
  const give = async (approvalId: string, values: FormValues, inputHash: string | null): Promise<Refusals> => {
    const { data: decided, error: failure } = await decide({ input: { approvalId, decision: "ALLOW", inputHash, values } });
    return decided?.decideApproval.userErrors ?? [{ message: failure?.message ?? "the server answered nothing" }];
  };
  const allowFromNowOn = async (approvalId: string, rule: string, inputHash: string | null): Promise<void> => {
    const storing = allowAlways({ input: { approvalId, rule } });
    if (await attempt(storing, ({ allowAlways: stored }) => stored.userErrors))
      await decideAs(approvalId, { decision: "ALLOW" }, inputHash);
  };
  const interruptTree = (tree: boolean): Promise<boolean> =>
    attempt(interrupt({ input: { agentId: agentId ?? "", tree } }), ({ interruptAgent }) => interruptAgent.userErrors);
  const look = async (approvalId: string): Promise<Asked> => {
    const { data: answer, error: failure } = await client.query(AskedDocument, { approvalId }, FRESH);
    if (failure !== undefined) throw failure;
    return askedIn(answer);
  };
  const propose = async (approvalId: string, rule: string | null): Promise<Proposal> => {
    const { data: answer, error: failure } = await client.query(ProposalDocument, { approvalId, rule }, FRESH);
    if (answer === undefined) throw failure ?? new Error("the server answered nothing");
    return answer.allowRuleProposal;
  };

  return (
    <ConversationScreen
      title="Triplane with urql"
      beginning={beginning.data ?? null}
      agents={agents.data?.agents.nodes ?? []}
      agentId={agentId}
      agent={agentId === null ? null : (data?.agent ?? null)}
      view={view}
      tree={tree}
      status={status}
      problem={problem ?? error?.message ?? treeError?.message ?? beginning.error?.message ?? agents.error?.message ?? null}
      actions={{
        send: sendTo,
        look,
        decide: (approvalId, decision, inputHash) => void decideAs(approvalId, decision, inputHash),
        give,
        propose,
        allowAlways: (approvalId, rule, inputHash) => void allowFromNowOn(approvalId, rule, inputHash),
        answer: (callId, result) =>
          attempt(completeCall({ input: { callId, result } }), ({ completeToolCall }) =>
            answerRefusals(completeToolCall.userErrors),
          ),
        interrupt: () => void interruptTree(false),
        interruptAll: () => void interruptTree(true),
        begin: () => {
          forgetAgent();
          location.reload();
        },
        open: show,
      }}
    />
  );
}
