/** The bytes of a sum: of SHA-1, and of SHA-256. The index does not say which it has. */
const SUMS = [20, 32] as const;
/** The bytes before an entry's sum. */
const BEFORE_SUM = 40;
/** The most bytes that all names have. In version 4 each may share a long beginning with the one before it. */
const MOST_NAME_BYTES = 32 * 1024 * 1024;
/** Flags of an entry: that more flags follow, and the length of its name, or the most that fits. */
const HAS_MORE = 0x4000;
const LENGTH = 0xfff;

/**
 * The names in an index of git (gitformat-index(5), versions 2 to 4). Null for what is none, for one whose other half lies in
 * another file, for one with folders in the place of their files, and for one whose names are too long to be kept.
 */
export function indexNames(index: Buffer): readonly string[] | null {
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return null;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  for (const sum of SUMS) {
    const names = namesWith(index, version, sum);
    if (names !== null) return names;
  }
  return null;
}

/** The names, if sums are of this length. */
function namesWith(index: Buffer, version: number, sum: number): readonly string[] | null {
  const names: string[] = [];
  let before: Buffer = Buffer.alloc(0);
  let at = 12;
  let room = MOST_NAME_BYTES;
  for (let count = index.readUInt32BE(8); count > 0; count -= 1) {
    const flagsAt = at + BEFORE_SUM + sum;
    if (flagsAt + 2 > index.length) return null;
    const flags = index.readUInt16BE(flagsAt);
    const nameAt = flagsAt + (version > 2 && (flags & HAS_MORE) !== 0 ? 4 : 2);
    const shared = version === 4 ? sharedPart(index, nameAt, before) : { kept: Buffer.alloc(0), restAt: nameAt };
    const end = shared === null ? -1 : index.indexOf(0, shared.restAt);
    if (shared === null || end < 0) return null;
    room -= shared.kept.length + end - shared.restAt;
    if (room < 0) return null;
    const name = Buffer.concat([shared.kept, index.subarray(shared.restAt, end)]);
    if (Math.min(name.length, LENGTH) !== (flags & LENGTH) || name.at(-1) === 0x2f) return null;
    names.push(name.toString("utf8"));
    before = name;
    // Entries of the earlier versions are padded to eight bytes, by one zero at least.
    at = version === 4 ? end + 1 : at + Math.floor((end - at + 8) / 8) * 8;
  }
  return isWhole(index, at, sum) ? names : null;
}

/** The beginning that a name of version 4 shares with the one before it, by the number of bytes that are left out. */
function sharedPart(index: Buffer, from: number, before: Buffer): { readonly kept: Buffer; readonly restAt: number } | null {
  let at = from;
  let byte = index[at] ?? 0;
  let left = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    at += 1;
    byte = index[at] ?? 0;
    left = (left + 1) * 128 + (byte & 0x7f);
  }
  return left > before.length ? null : { kept: before.subarray(0, before.length - left), restAt: at + 1 };
}

/** True if the extensions behind the entries end where the sum of all begins, and none says that entries lie elsewhere. */
function isWhole(index: Buffer, from: number, sum: number): boolean {
  const end = index.length - sum;
  let at = from;
  while (at + 8 <= end) {
    if (index.toString("latin1", at, at + 4) === "link") return false;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return at === end;
}
