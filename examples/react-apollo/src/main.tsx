import { ApolloProvider } from "@apollo/client/react";
import { StrictMode, useState, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import type { ResumeStatus } from "@triplane/client";
import "../../react-shared/src/style.css";
import { App } from "./app.tsx";
import { makeClient } from "./client.ts";

function Root(): ReactNode {
  const [status, setStatus] = useState<ResumeStatus | null>(null);
  const [client] = useState(() => makeClient(setStatus));
  return (
    <ApolloProvider client={client}>
      <App status={status} />
    </ApolloProvider>
  );
}

const root = document.querySelector("#root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <Root />
    </StrictMode>,
  );
