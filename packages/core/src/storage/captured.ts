/** The maximum bytes of captured email per workspace. The oldest email is deleted first. */
export const MAX_CAPTURED = 256 * 1024 * 1024;
