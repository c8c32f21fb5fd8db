import { Trans, useLingui } from "@lingui/react/macro";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { useKeys, useSendKey } from "../design/keys.ts";
import { lazyPart } from "../design/lazy-part.tsx";
import { inboxViews } from "../inbox/queue.ts";
import { usePutOff } from "../inbox/snooze/put-off.ts";
import { useInbox } from "../inbox/store.ts";
import { useConnection } from "../session/connection.ts";
import { nameOf, useMay, useViewer } from "../session/viewer.tsx";
import { SettingsMenu } from "./settings-menu.tsx";
import { SignOut } from "./sign-out.tsx";
import "./shell.css";

const KeysDialog = lazyPart(async () => (await import("./keys-dialog.tsx")).KeysDialog, { closeOf: ({ close }) => close });

/** The head of every screen. The number of open approvals stands in the title of the page, too. */
export function Frame(): ReactNode {
  const { t } = useLingui();
  const { rows, total, snoozes } = useInbox();
  const putOff = usePutOff(snoozes);
  const viewer = useViewer();
  const mayOperate = useMay("READ_OPERATIONS").isAllowed;
  /** How often the keys were asked for since they were closed: each time loads them anew if they have not come. */
  const [keysAsked, setKeysAsked] = useState(0);
  const askForKeys = (): void => setKeysAsked(keysAsked + 1);
  const count = total === null ? 0 : inboxViews(rows, putOff).open.size;
  useEffect(() => {
    document.title = count === 0 ? "Triplane" : `(${count}) Triplane`;
  }, [count]);
  const navigate = useNavigate();
  useSendKey();
  useKeys({
    "?": askForKeys,
    "g i": () => void navigate({ to: "/inbox", search: {} }),
    "g a": () => void navigate({ to: "/agents", search: {} }),
    "g p": () => void navigate({ to: "/policy", search: {} }),
    "g o": () => (mayOperate ? void navigate({ to: "/operations" }) : undefined),
    "g u": () => void navigate({ to: "/audit", search: {} }),
  });
  return (
    <div className="frame">
      <header className="bar">
        <a
          href="#content"
          className="skip"
          onClick={(event) => {
            event.preventDefault();
            const content = document.querySelector("main");
            content?.setAttribute("tabindex", "-1");
            content?.focus();
          }}
        >
          <Trans>To the content</Trans>
        </a>
        <Link to="/inbox" search={{}} className="brand">
          <img src="/console/icon.svg" alt="" width="20" height="20" />
          <span>Triplane</span>
        </Link>
        <nav className="places" aria-label={t`Screens`}>
          <Link to="/inbox" search={{}}>
            <Trans>Inbox</Trans>
            {count === 0 ? null : <span className="count">{count}</span>}
          </Link>
          <Link to="/agents" search={{}}>
            <Trans>Agents</Trans>
          </Link>
          <Link to="/audit" search={{}}>
            <Trans>Audit</Trans>
          </Link>
          <Link to="/policy" search={{}}>
            <Trans>Policy</Trans>
          </Link>
          {mayOperate ? (
            <Link to="/operations">
              <Trans>Operations</Trans>
            </Link>
          ) : null}
        </nav>
        <ConnectionLamp />
        <Link to="/account" className="who small quiet">
          {nameOf(viewer.actor)}
          {viewer.tenant === "default" ? "" : ` · ${viewer.tenant}`}
        </Link>
        <button type="button" className="plain keys-button" aria-label={t`Keys`} onClick={askForKeys}>
          <kbd>?</kbd>
        </button>
        <SettingsMenu />
        <SignOut />
      </header>
      <div className="screen">
        <Outlet />
      </div>
      {keysAsked === 0 ? null : <KeysDialog key={keysAsked} isOpen close={() => setKeysAsked(0)} />}
    </div>
  );
}

/** The page continues by itself after a loss: this only says so. */
function ConnectionLamp(): ReactNode {
  const connection = useConnection();
  return (
    <span className={`lamp ${connection.kind}`} role="status">
      {connection.kind === "live" ? (
        <span className="small">
          <Trans>live</Trans>
        </span>
      ) : connection.kind === "lost" ? (
        <span className="small" title={connection.message}>
          <Trans>connection lost, trying again</Trans>
        </span>
      ) : connection.kind === "outage" ? (
        <span className="small">
          <Trans>the database does not answer</Trans>
        </span>
      ) : (
        <span className="small">
          <Trans>connecting</Trans>
        </span>
      )}
    </span>
  );
}
