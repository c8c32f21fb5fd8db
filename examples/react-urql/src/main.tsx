import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Provider } from "urql";
import "../../react-shared/src/style.css";
import { App } from "./app.tsx";
import { makeClient } from "./client.ts";

const client = makeClient();
const root = document.querySelector("#root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <Provider value={client}>
        <App />
      </Provider>
    </StrictMode>,
  );
