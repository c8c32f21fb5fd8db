import { StrictMode, useState, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import type { ResumeStatus } from "@triplane/client";
import { Provider } from "urql";
import "../../react-shared/src/style.css";
import { App } from "./app.tsx";
import { makeClient } from "./client.ts";

function Root(): ReactNode {
  const [status, setStatus] = useState<ResumeStatus | null>(null);
  const [client] = useState(() => makeClient(setStatus));
  return (
    <Provider value={client}>
      <App status={status} />
    </Provider>
  );
}

const root = document.querySelector("#root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <Root />
    </StrictMode>,
  );
