import fc from "fast-check";
import { expect, it } from "vitest";
import { namedHost } from "../../../src/agent/bash/named-host.ts";
import { visibleLine } from "../../../src/lib/escape-hidden.ts";

const word = (text: string, isOpen = false) => ({ text, isOpen, mustBeNamed: null });

it.each([
  ["http://good.example=@evil.example/upload", "evil.example"],
  ["http://user:p=w@evil.example/", "evil.example"],
  ["--url=http://user:p=w@evil.example:81/?u=http://good.example/", "evil.example:81"],
  ["url=HTTP://EVIL.example", "evil.example"],
  ["http://[2001:DB8::1]:8080/x", "[2001:db8::1]:8080"],
  ["http:/evil.example/x", "evil.example"],
  ["http:///evil.example/x", "evil.example"],
  ["ftp:///evil.example/x", "evil.example"],
  ["smtp:/evil.example/x", "evil.example"],
  ["http://bücher.example/", "xn--bcher-kva.example"],
  ["ssh://git@host.example/x", "host.example"],
])("the host of %s is %s", (text, host) => {
  expect(namedHost(word(text))).toBe(host);
});

it.each([
  ["http://good.example\\@evil.example/", "good.example\\@evil.example"],
  ["http://good.example@evil.example@other.example/", "good.example@evil.example@other.example"],
  // wget ends the userinfo at the semicolon.
  ["http://good.example;@evil.example/", "good.example;@evil.example"],
  ["http://good.example%40evil.example/", "good.example%40evil.example"],
  ["http://good.example:80:@/", "good.example:80:@"],
  // curl makes two addresses of the braces.
  ["http://{good.example/,x}@evil.example/y", "{good.example/,x}@evil.example"],
  ["http://good.example\t@evil.example/", "good.example\\u0009@evil.example"],
])("an authority that programs may read differently is shown as written: %s", (text, authority) => {
  expect(namedHost(word(text))).toBe(authority);
});

it("the end of a long authority stays in sight", () => {
  const named = namedHost(word(`http://good.example${"=".repeat(2_000)};@evil.example/`));
  expect(named).toMatch(/^good\.example=+…=+;@evil\.example$/);
  expect(named?.length).toBeLessThanOrEqual(400);
});

it.each([
  ["https://$HOST/x", true],
  ["https://`cat host`/x", true],
  ["https://good.example${X:-/}@evil.example", true],
  ["file:///etc/passwd", false],
  ["a:b", false],
  ["mailto:anna@good.example", false],
  ["-d=1=http://good.example", false],
  ["src/http://good.example", false],
])("%s names no host", (text, isOpen) => {
  expect(namedHost(word(text, isOpen))).toBeNull();
});

it("a word with a variable behind its host names the host, with and without quotes", () => {
  expect(namedHost(word("https://evil.example/$X", true))).toBe("evil.example");
  expect(namedHost(word('"https://evil.example/$X"', true))).toBe("evil.example");
  expect(namedHost(word('--url="https://evil.example/$X"', true))).toBe("evil.example");
  expect(namedHost(word('https://good.example"@evil.example"/$X', true))).toBe('good.example"@evil.example"');
});

/** Parts of an authority that programs read in different ways. */
const part = fc.constantFrom(
  "good.example",
  "EVIL.example",
  "bücher.example",
  "ｅvil.example",
  "[::1]",
  "[FE80::1%25a]",
  "user",
  ":",
  ":80",
  ":x",
  "@",
  "＠",
  "。",
  ...Array.from(String.raw`=\;'"{}[]&!`),
  "%40",
  "%2f",
  " ",
  "\t",
  "\u200b",
  "\u202e",
);
const authorities = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(""));
const before = fc.constantFrom("", "--url=", "url=", "-u=");
const schemes = fc.constantFrom("http://", "https://", "HTTP://", "http:/", "http:\\\\", "ftp://", "ssh://", "wss:///");
const behind = fc.constantFrom("", "/", "/x@y", "?a=@b", "#@c", "/=http://other.example");

/** The host behind the last `@`, as WHATWG's parser writes it, without the port 80; null if that takes a part of it for something else. */
function parsed(host: string): string | null {
  const address = `http://${host}/`;
  return !/[\\\s]/.test(host) && URL.canParse(address) ? new URL(address).host : null;
}

it("a named host is the one behind the last @, or the authority as written (property)", () => {
  fc.assert(
    fc.property(before, schemes, authorities, behind, (option, scheme, authority, rest) => {
      const written = authority.replace(/^(?:\s*\\)*/, "");
      fc.pre(written.trim() !== "");
      const named = namedHost(word(`${option}${scheme}${written}${rest}`));
      const last = written.slice(written.lastIndexOf("@") + 1);
      const whole = visibleLine(written);
      // An open brace takes in some of what follows.
      const isWritten =
        named === whole ||
        (whole.includes("{") && named?.startsWith(whole) === true && visibleLine(written + rest).startsWith(named));
      if (/[\\;'"\s@].*@/s.test(written)) expect(isWritten).toBe(true);
      expect(isWritten || named === last.toLowerCase() || (named !== null && named.replace(/:80$/, "") === parsed(last))).toBe(
        true,
      );
    }),
    { numRuns: 5_000 },
  );
});

it("a host that is named without its authority is the one to which WHATWG's parser connects (property)", () => {
  fc.assert(
    fc.property(authorities, behind, (authority, rest) => {
      const address = `http://${authority}${rest}`;
      const named = namedHost(word(address));
      if (named === null || named === visibleLine(authority)) return;
      if (!URL.canParse(address) || /[{\\]/.test(authority)) return;
      expect(new URL(`http://${named}`).host).toBe(new URL(address).host);
    }),
    { numRuns: 5_000 },
  );
});
