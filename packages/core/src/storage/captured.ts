/** The bytes of captured mail that a workspace keeps; the oldest goes first. */
export const MOST_CAPTURED = 256 * 1024 * 1024;
