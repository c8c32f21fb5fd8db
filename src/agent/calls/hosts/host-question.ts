import type { ApprovalState } from "../../../db/generated/enums.ts";
import type { Host } from "../../policy/hosts/host-rule.ts";

export type HostQuestion = Host & {
  readonly approvalId: string;
  readonly state: ApprovalState;
  /** The note of the last decision; null if it is open or has none. */
  readonly note: string | null;
};

/** An open question; `isOfShells`: only running background shells ask it. */
export type OpenHost = HostQuestion & { readonly isOfShells: boolean };

const FIELDS = `'approvalId', p.id, 'host', p.host, 'port', p.port, 'state', p.state,
      'note', (SELECT d.note FROM decision d WHERE d.approval_id = p.id AND p.state <> 'PENDING' ORDER BY d.decided_at DESC LIMIT 1)`;
const QUESTION = `json_build_object(${FIELDS})`;
const IN_ORDER = `p.host COLLATE "C", p.port, p.id`;

/** The questions that block or blocked the tool call `t`, as a JSON list of HostQuestions. */
export const HOSTS_OF_CALL = `(SELECT coalesce(json_agg(${QUESTION} ORDER BY ${IN_ORDER}), '[]') FROM wait r JOIN approval p ON p.id = r.ref
    WHERE r.call_id = t.id AND r.kind = 'HOST')`;

/** True if a request `r` of an agent `a` does not belong to a running background shell. */
const IS_OF_OTHERS = `r.kind = 'HOST' OR NOT EXISTS (SELECT FROM shell s WHERE s.agent_id = a.id AND s.state = 'RUNNING' AND s.call_id = r.call_id)`;

/** The OpenHosts of an agent `a`, from calls and programs. */
export const OPEN_HOSTS = `(SELECT coalesce(json_agg(json_build_object(${FIELDS}, 'isOfShells', NOT EXISTS (SELECT FROM wait r WHERE r.ref = p.id AND (${IS_OF_OTHERS}))) ORDER BY ${IN_ORDER}), '[]') FROM approval p
    WHERE p.agent_id = a.id AND p.state = 'PENDING' AND p.host IS NOT NULL)`;
