export { iterate, type IterateOptions } from "./iterate.ts";
export { ResumeError, type Problem, type ResumeErrorCode } from "./errors.ts";
export { resume, type Outage, type ResumeOptions, type ResumeStatus } from "./resume.ts";
export { TransportDisposed } from "./transport.ts";
export type { TimelineView } from "./timeline-view.ts";
export type { Request, Result, ServerError, Sink, Transport } from "./transport.ts";
