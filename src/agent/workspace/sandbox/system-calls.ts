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
