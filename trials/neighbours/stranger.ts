import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import WebSocket from "ws";

/**
 * The stranger of trial:neighbours: sends documents of 4 MB to each server of TRIAL_URLS until it is ended, over HTTP without a
 * token, each another one, and over sockets that never say who they are. It says a line for each that a server refused. It
 * has a process of its own, since who measures would wait for it.
 */
const { TRIAL_URLS: urls = "" } = process.env;
const FIELDS = Buffer.from("__typename ".repeat((4 * 1024 * 1024) / 11));
/** The time from the end of one to the next, in ms. */
const PAUSE_MS = 250;

async function post(url: string): Promise<void> {
  for (let index = 0; ; index += 1) {
    const parts = [Buffer.from(`{"query":"{ a${index}: `), FIELDS, Buffer.from(`}"}`)];
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    await new Promise<void>((resolve) => {
      const sent = request(url, { method: "POST", headers: { "content-type": "application/json", "content-length": length } });
      // A server that refuses it reads no further.
      sent.on("error", () => {});
      sent.on("response", (answer) => {
        console.log(`refused with ${answer.statusCode}`);
        answer.resume();
      });
      sent.on("close", resolve);
      parts.forEach((part) => sent.write(part));
      sent.end();
    });
    await delay(PAUSE_MS);
  }
}

async function connect(url: string): Promise<void> {
  for (;;) {
    const socket = new WebSocket(url.replace("http", "ws"), "graphql-transport-ws");
    socket.on("error", () => {});
    socket.on("open", () => socket.send(FIELDS, { binary: false }, () => {}));
    await new Promise((resolve) => socket.once("close", resolve));
    console.log("its socket was closed");
    await delay(PAUSE_MS);
  }
}

const sending = urls.split(" ").flatMap((url) => [post(url), connect(url)]);
console.log("sends");
await Promise.all(sending);
