import { Observable, type GraphQLResponse, type SubscribeFunction } from "relay-runtime";
import { resume, type ResumeOptions } from "./resume.ts";
import type { Result, Transport } from "./transport.ts";

/**
 * Relay's function for subscriptions, which resume: `Network.create(fetchFunction, resumeSubscribe(transport))`. An operation
 * without a text is asked for by its id, as one of the server's trusted documents.
 */
export function resumeSubscribe(transport: Transport, options: ResumeOptions = {}): SubscribeFunction {
  return ({ name: operationName, text, id }, variables) =>
    Observable.create((sink) => {
      const named = typeof text === "string" ? { query: text } : { documentId: id ?? "" };
      return resume<Record<string, unknown>>(
        transport,
        { ...named, operationName, variables },
        {
          next: (result: Result<Record<string, unknown>>) => sink.next(result as GraphQLResponse),
          error: (error) => sink.error(error instanceof Error ? error : new Error(String(error))),
          complete: () => sink.complete(),
        },
        options,
      );
    });
}
