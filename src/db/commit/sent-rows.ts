/** A part of many requests, which a tenant keeps once: `body` in its RFC 8785 form, `digest` its SHA-256 in hex. */
export type RequestPart = { readonly digest: string; readonly body: string };

export type RequestParts = {
  /** The parts that the agent has not had before: they stay if the tenant has them already. */
  readonly requestParts?: readonly RequestPart[];
};

/** The messages that hooks put into a window, in the place of those between the first `from` and the last `kept` ones. */
export type SentChange<Message = object> = {
  readonly from: number;
  readonly kept: number;
  readonly messages: readonly Message[];
};

/** The record of a step's request. */
export type SentRecord<Message = object> = {
  /** The SHA-256 of the request in its RFC 8785 form, in hex. */
  readonly hash: string;
  /** The digest of its fixed parts: all but the messages. */
  readonly frame: string;
  /** The messages of the conversation then. */
  readonly length: number;
  readonly isFirstOfTurn: boolean;
  /** Absent if no hook changed the messages. */
  readonly changed?: SentChange<Message>;
};
