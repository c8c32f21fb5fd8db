import { constants } from "node:os";

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

export type Machine = "x64" | "arm64";

type Numbers = Readonly<Record<Machine, number | null>>;

const both = (number: number): Numbers => ({ x64: number, arm64: number });
const each = (x64: number, arm64: number | null): Numbers => ({ x64, arm64 });

/** System calls whose arguments decide. */
export const JUDGED = {
  socket: each(41, 198),
  socketpair: each(53, 199),
  clone: each(56, 220),
  ioctl: each(16, 29),
} as const;

/**
 * System calls that are reported as missing, so that programs use others. Their arguments are in memory that a filter
 * cannot read (`clone3`), or they bypass the filter (`io_uring`).
 */
export const ABSENT = {
  clone3: both(435),
  io_uring_setup: both(425),
  io_uring_enter: both(426),
  io_uring_register: both(427),
} as const;

/**
 * Refused system calls: those for administrators, those that reach into other programs, and those with a history of
 * kernel exploits.
 */
export const REFUSED = {
  // Its own namespaces and mounts.
  unshare: each(272, 97),
  setns: each(308, 268),
  mount: each(165, 40),
  umount2: each(166, 39),
  pivot_root: each(155, 41),
  chroot: each(161, 51),
  open_tree: both(428),
  move_mount: both(429),
  fsopen: both(430),
  fsconfig: both(431),
  fsmount: both(432),
  fspick: both(433),
  mount_setattr: both(442),
  open_tree_attr: both(467),
  // Other programs.
  ptrace: each(101, 117),
  process_vm_readv: each(310, 270),
  process_vm_writev: each(311, 271),
  pidfd_getfd: both(438),
  kcmp: each(312, 272),
  // Keys, which namespaces do not separate.
  add_key: each(248, 217),
  request_key: each(249, 218),
  keyctl: each(250, 219),
  // Parts of the kernel that ordinary programs do not need.
  bpf: each(321, 280),
  userfaultfd: each(323, 282),
  perf_event_open: each(298, 241),
  fanotify_init: each(300, 262),
  name_to_handle_at: each(303, 264),
  open_by_handle_at: each(304, 265),
  memfd_secret: both(447),
  // The whole machine.
  kexec_load: each(246, 104),
  kexec_file_load: each(320, 294),
  init_module: each(175, 105),
  finit_module: each(313, 273),
  delete_module: each(176, 106),
  acct: each(163, 89),
  swapon: each(167, 224),
  swapoff: each(168, 225),
  reboot: each(169, 142),
  settimeofday: each(164, 170),
  clock_settime: each(227, 112),
  clock_adjtime: each(305, 266),
  quotactl: each(179, 60),
  quotactl_fd: both(443),
  syslog: each(103, 116),
  vhangup: each(153, 58),
  iopl: each(172, null),
  ioperm: each(173, null),
} as const;
