import { CSPProvider } from "@base-ui/react/csp-provider";
import { I18nProvider } from "@lingui/react";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Provider } from "urql";
import "./design/tokens.css";
import "./design/base.css";
import "./calls/calls.css";
import "./design/print.css";
import { prepareTimes } from "./design/time.ts";
import { client } from "./session/client.ts";
import { i18n } from "./session/messages.ts";
import { showTheme, speak, startLanguage, startTheme } from "./session/settings.ts";
import { Gate } from "./shell/gate.tsx";
import { router } from "./shell/router.tsx";

// A page that the browser has kept for its Back key may be of a person who has signed out since.
addEventListener("pageshow", ({ persisted }) => (persisted ? location.reload() : undefined));
showTheme(startTheme());
const language = startLanguage();
await speak(language);
const root = document.querySelector("#root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <I18nProvider i18n={i18n}>
        <CSPProvider disableStyleElements>
          <Provider value={client}>
            <Gate>
              <RouterProvider router={router} />
            </Gate>
          </Provider>
        </CSPProvider>
      </I18nProvider>
    </StrictMode>,
  );
setTimeout(() => prepareTimes(language), 0);
