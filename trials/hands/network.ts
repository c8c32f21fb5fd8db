import { connect } from "node:net";
import type { Network } from "../../src/agent/workspace/network/reach.ts";

/** An address of the public internet; nothing is ever sent there. */
const PUBLIC = "93.184.216.34";
/** This machine. */
const PRIVATE = "127.0.0.1";

/** The addresses that the names of the trial stand for. A name that changes is public once, and private from then on. */
function addressesOf(name: string, asked: number): readonly string[] {
  switch (name.split(/[-.]/)[0]) {
    case "public":
      return [PUBLIC];
    case "changes":
      return [asked === 0 ? PUBLIC : PRIVATE];
    case "mapped":
      return ["::ffff:127.0.0.1"];
    case "linked":
      return ["169.254.169.254"];
    case "both":
      return [PRIVATE, PUBLIC];
    default:
      return [PRIVATE];
  }
}

/**
 * The network of the trial's server, in which the public internet is one port of this machine. With the fault a connection
 * goes to what the last name stands for by then, not to the address that was looked at.
 */
export function trialNetwork(publicPort: number, isPlanted: boolean): Network {
  const asked = new Map<string, number>();
  let last = "";
  const lookup = (name: string): readonly string[] => {
    const before = asked.get(name) ?? 0;
    asked.set(name, before + 1);
    last = name;
    return addressesOf(name, before);
  };
  return {
    lookup: async (name) => lookup(name),
    connect: (address, port) => {
      const [real = address] = isPlanted ? lookup(last) : [address];
      return real === PUBLIC ? connect({ host: PRIVATE, port: publicPort }) : connect({ host: real, port });
    },
    isNear: () => false,
  };
}
