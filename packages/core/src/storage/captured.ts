/** Captured email per workspace in bytes. The oldest is deleted first. */
export const MAX_CAPTURED = 256 * 1024 * 1024;
