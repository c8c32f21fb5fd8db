import { constants } from "node:os";
import { ABSENT, JUDGED, REFUSED, type Machine } from "./system-calls.ts";

/** One instruction of a filter (linux/filter.h, `struct sock_filter`): code, jumps if true and if false, a constant. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, constant: number];

const LOAD = 0x20;
const AND = 0x54;
const EQUALS = 0x15;
const AT_LEAST = 0x35;
const HAS_BITS = 0x45;
const RETURN = 0x06;

/** linux/seccomp.h: a filter's answers, and the offsets in `struct seccomp_data`. Both machines are little-endian. */
const ALLOW = 0x7fff0000;
const ERROR = 0x00050000;
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

/** linux/audit.h. */
const ARCHITECTURES: Readonly<Record<Machine, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Numbers from here on are those of x32, the 32-bit calls of a 64-bit kernel. */
const X32 = 0x40000000;

const UNIX = 1;
const INTERNET = 2;
const INTERNET_6 = 10;
const NETLINK = 16;
const STREAM = 1;
const SEQUENCED = 5;
const TYPE = 0xf;
const ROUTES = 0;
/** linux/sched.h: the flags that ask for a new namespace. */
const NEW_NAMESPACES = 0x7e020000;
/** Terminal controls that type into a terminal (`TIOCSTI`), or steer a console (`TIOCLINUX`). */
const TYPES_IN = 0x5412;
const STEERS_CONSOLE = 0x541c;

const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
const answer = (value: number): Instruction => [RETURN, 0, 0, value];
const refuse = answer(ERROR | constants.errno.EPERM);
const absent = answer(ERROR | constants.errno.ENOSYS);
const allow = answer(ALLOW);

/** Internet sockets in the box's network, and those that list its devices; no Unix sockets, which lead out of the box. */
const SOCKET: readonly Instruction[] = [
  load(argument(0)),
  [EQUALS, 5, 0, INTERNET],
  [EQUALS, 4, 0, INTERNET_6],
  [EQUALS, 0, 2, NETLINK],
  load(argument(2)),
  [EQUALS, 1, 0, ROUTES],
  refuse,
  allow,
];

/** Connected pairs, which Node's children need. One of datagrams could be reconnected to a Unix socket. */
const PAIR: readonly Instruction[] = [
  load(argument(0)),
  [EQUALS, 0, 4, UNIX],
  load(argument(1)),
  [AND, 0, 0, TYPE],
  [EQUALS, 2, 0, STREAM],
  [EQUALS, 1, 0, SEQUENCED],
  refuse,
  allow,
];

const CLONE: readonly Instruction[] = [load(argument(0)), [HAS_BITS, 0, 1, NEW_NAMESPACES], refuse, allow];

const CONTROL: readonly Instruction[] = [
  load(argument(1)),
  [EQUALS, 1, 0, TYPES_IN],
  [EQUALS, 0, 1, STEERS_CONSOLE],
  refuse,
  allow,
];

/**
 * A box's filter of system calls in the kernel's own language (classic BPF; seccomp(2)). Refused calls fail with EPERM,
 * hidden ones with ENOSYS; programs are not killed. Calls of other machines do not exist: their numbers have other
 * meanings.
 */
export function systemCallFilter(machine: Machine): Buffer {
  const judged = { socket: SOCKET, socketpair: PAIR, clone: CLONE, ioctl: CONTROL };
  const instructions: readonly Instruction[] = [
    load(ARCHITECTURE),
    [EQUALS, 1, 0, ARCHITECTURES[machine]],
    absent,
    load(NUMBER),
    ...(machine === "x64" ? [[AT_LEAST, 0, 1, X32] as const, absent] : []),
    ...Object.entries(JUDGED).flatMap(([name, number]) => ifCalled(number[machine], judged[name as keyof typeof JUDGED])),
    ...Object.values(ABSENT).flatMap((number) => ifCalled(number[machine], [absent])),
    ...Object.values(REFUSED).flatMap((number) => ifCalled(number[machine], [refuse])),
    allow,
  ];
  const bytes = Buffer.alloc(instructions.length * 8);
  instructions.forEach(([code, ifTrue, ifFalse, constant], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(constant >>> 0, index * 8 + 4);
  });
  return bytes;
}

function ifCalled(number: number | null, then: readonly Instruction[]): readonly Instruction[] {
  return number === null ? [] : [[EQUALS, 0, then.length, number], ...then];
}
