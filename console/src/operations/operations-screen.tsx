import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, type ReactNode } from "react";
import { useQuery } from "urql";
import { Sessions } from "../account/sessions.tsx";
import { Tokens } from "../account/tokens.tsx";
import { OperationsDocument } from "../generated/documents.ts";
import { useMay } from "../session/viewer.tsx";
import { Consumers } from "./consumers.tsx";
import { Log } from "./log.tsx";
import { McpServers } from "./mcp-servers.tsx";
import { Schedules } from "./schedules.tsx";
import { Servers } from "./servers.tsx";
import "../design/screen.css";

/** The state is read again so often while the page is in view; ms. */
const READ_MS = 10_000;

/** What runs, how far deliveries are, and who is signed in. */
export function OperationsScreen(): ReactNode {
  const { t } = useLingui();
  const may = useMay("READ_OPERATIONS");
  const [{ data, error }, again] = useQuery({ query: OperationsDocument, requestPolicy: "cache-and-network" });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") again({ requestPolicy: "network-only" });
    }, READ_MS);
    return () => clearInterval(timer);
  }, [again]);
  const state = data?.operations ?? null;
  return (
    <main className="look">
      <header className="look-head">
        <h1>
          <Trans>Operations</Trans>
        </h1>
        <span className="quiet small">
          <Trans>read again every 10 seconds</Trans>
        </span>
      </header>
      <div className="look-body" tabIndex={0} role="group" aria-label={t`Operations`}>
        {may.isAllowed ? null : <p className="note">{may.reason}</p>}
        {error === undefined ? null : (
          <p role="alert" className="alert">
            {error.message}
          </p>
        )}
        {data === undefined && error === undefined ? <div className="skeleton" aria-hidden="true" /> : null}
        {state === null ? null : (
          <>
            <Servers state={state} />
            <Consumers consumers={state.consumers} />
            <Log state={state} />
          </>
        )}
        {data === undefined ? null : (
          <McpServers servers={data.mcpServers} again={() => again({ requestPolicy: "network-only" })} />
        )}
        <Schedules />
        <Tokens isOwn={false} />
        <Sessions isOwn={false} />
      </div>
    </main>
  );
}
