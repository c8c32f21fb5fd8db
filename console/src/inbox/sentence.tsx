import { Trans } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { namesOf } from "../session/viewer.tsx";
import { hostIn, inputIn, type Asked } from "./asked.ts";

/** One sentence: whose agent wants to do it, and on which things. */
export function Sentence({ asked }: { readonly asked: Asked }): ReactNode {
  const { agent, requestedBy, toolCall } = asked;
  const people = namesOf(requestedBy);
  const who = (
    <strong>
      {agent.template.templateId}
      {agent.title === null ? "" : ` “${visible(agent.title)}”`}
    </strong>
  );
  const tool = <code>{toolCall?.name ?? ""}</code>;
  const wish = wishOf(asked, who, tool);
  return (
    <h2 className="sentence">
      {wish}
      {people === "" ? null : (
        <span className="quiet">
          {" "}
          <Trans>for {people}</Trans>
        </span>
      )}
    </h2>
  );
}

function wishOf(asked: Asked, who: ReactNode, tool: ReactNode): ReactNode {
  switch (asked.kind) {
    case "NETWORK_HOST": {
      const { host = "", port = 0 } = hostIn(asked) ?? {};
      const address = <code>{`${visible(host)}:${port}`}</code>;
      return (
        <Trans>
          {who} wants to connect to {address}
        </Trans>
      );
    }
    case "BUDGET":
      return <Trans>{who} needs a higher budget for its next step</Trans>;
    case "TOOL_INPUT": {
      const server = inputIn(asked)?.server ?? "";
      return (
        <Trans>
          {server} asks for values, so that {tool} of {who} can continue
        </Trans>
      );
    }
    case "OUTCOME_UNKNOWN":
      return (
        <Trans>
          {tool} of {who} was cut off: is it done?
        </Trans>
      );
    case "TOOL_CALL":
      return <CallWish asked={asked} who={who} tool={tool} />;
  }
}

function CallWish({ asked, who, tool }: { readonly asked: Asked; readonly who: ReactNode; readonly tool: ReactNode }): ReactNode {
  const files = asked.preview?.files ?? [];
  const [file] = files;
  const folder = <code className="path">{visible(lastPart(asked.agent.workspace))}</code>;
  if (asked.commandParts.length > 0)
    return (
      <Trans>
        {who} wants to run a command in {folder}
      </Trans>
    );
  if (file === undefined)
    return (
      <Trans>
        {who} wants to call {tool} in {folder}
      </Trans>
    );
  const path = <code className="path">{visible(file.path)}</code>;
  const others = files.length - 1;
  return others > 0 ? (
    <Trans>
      {who} wants to change {path} and {others} more files
    </Trans>
  ) : (
    <Trans>
      {who} wants to change {path}
    </Trans>
  );
}

/** The folder's name, without the way to it. */
export function lastPart(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? path;
}
