import { expect, it } from "vitest";
import { browserOf } from "../../console/src/account/browser.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

it.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`, "Chrome 141, Linux"],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`, "Edge 141, Windows"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox 144, macOS"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15",
    "Safari 19, macOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0.0.0 Mobile/15E148 Safari/604.1",
    "Chrome 141, iOS",
  ],
  [`Mozilla/5.0 (Linux; Android 16; Pixel 10) ${WEBKIT} Chrome/141.0.0.0 Mobile Safari/537.36`, "Chrome 141, Android"],
  [`Mozilla/5.0 ${WEBKIT} HeadlessChrome/141.0.0.0`, "Chrome 141"],
  ["curl/8.14.1", "curl/8.14.1"],
  ["", ""],
])("%s is shown as %s", (userAgent, shown) => {
  expect(browserOf(userAgent)).toBe(shown);
});
