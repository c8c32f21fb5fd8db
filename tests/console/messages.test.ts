import { describe, expect, it } from "vitest";
import { visible } from "@triplane/client/command-lines";
import { i18n } from "../../console/src/session/messages.ts";

describe("texts with values", () => {
  i18n.loadAndActivate({ locale: "en", messages: { rule: ["The rule ", ["0"], " of ", ["count"]] } });

  it("keep each value as it is: an escape stays one, and hides nothing", () => {
    const shown = visible("pay(to:\u202elive)");
    expect(i18n._("rule", { 0: shown, count: 2 })).toBe("The rule pay(to:\\u202elive) of 2");
    expect(i18n._({ id: "rule", values: { 0: "\\x41 \\u0041 C:\\users", count: 1 } })).toBe(
      "The rule \\x41 \\u0041 C:\\users of 1",
    );
    expect(i18n.t("rule", { 0: "\\u005cu202e" })).toBe("The rule \\u005cu202e of ");
  });
});
