/** A growing buffer, for output whose size is not known. */
export interface OctetWriter {
  bytes: Buffer;
  /** A view of `bytes` from its first octet. */
  view: DataView;
  length: number;
}

const FIRST_ROOM = 64 * 1024;
/** A buffer that grew beyond this size for a large message is not reused. */
const MAX_KEPT = 1024 * 1024;

const shared = withRoom(FIRST_ROOM);

/**
 * Starts writing into the block shared by the whole process, so that a message costs no memory until its size is known.
 * The octets must be written and copied in the same turn of the event loop, because the next start overwrites them.
 */
export function startWriting(): OctetWriter {
  if (shared.bytes.length > MAX_KEPT) Object.assign(shared, withRoom(FIRST_ROOM));
  shared.length = 0;
  return shared;
}

function withRoom(room: number): OctetWriter {
  const bytes = Buffer.allocUnsafeSlow(room);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), length: 0 };
}

/** Ensures room for `count` more octets. */
export function reserve(to: OctetWriter, count: number): void {
  const needed = to.length + count;
  if (needed <= to.bytes.length) return;
  const { bytes, view } = withRoom(Math.max(needed, to.bytes.length * 2));
  to.bytes.copy(bytes, 0, 0, to.length);
  to.bytes = bytes;
  to.view = view;
}

export function writeAscii(to: OctetWriter, text: string): void {
  reserve(to, text.length);
  // latin1 is the only conversion that copies bytes as they are.
  to.length += to.bytes.write(text, to.length, 'latin1');
}

/** Returns the octets written, valid until the next start. */
export function bytesOf(to: OctetWriter): Buffer {
  return to.bytes.subarray(0, to.length);
}
