import { ApolloLink } from "@apollo/client/link";
import { print } from "graphql";
import { Observable } from "rxjs";
import { resume, type ResumeOptions, type ResumeStatus } from "./resume.ts";
import type { Result, Transport } from "./transport.ts";

/** As ResumeOptions, but one link serves many operations: the status says whose it is. */
export type ResumeLinkOptions = Omit<ResumeOptions, "onStatus"> & {
  readonly onStatus?: (status: ResumeStatus, operation: ApolloLink.Operation) => void;
};

/**
 * The terminating link for subscriptions in Apollo Client 4. Send it what is a subscription, and the rest to an
 * HttpLink: `ApolloLink.split(({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION, resumeLink, httpLink)`.
 */
export class ResumeLink extends ApolloLink {
  readonly #transport: Transport;
  readonly #options: ResumeLinkOptions;

  constructor(transport: Transport, options: ResumeLinkOptions = {}) {
    super();
    this.#transport = transport;
    this.#options = options;
  }

  override request(operation: ApolloLink.Operation): Observable<ApolloLink.Result> {
    const { onStatus, ...options } = this.#options;
    const { query, operationName, variables, extensions } = operation;
    return new Observable((observer) =>
      resume<Record<string, unknown>>(
        this.#transport,
        { query: print(query), operationName, variables, extensions },
        {
          next: (result: Result<Record<string, unknown>>) => observer.next(result as ApolloLink.Result),
          error: (error) => observer.error(error),
          complete: () => observer.complete(),
        },
        onStatus === undefined ? options : { ...options, onStatus: (status) => onStatus(status, operation) },
      ),
    );
  }
}
