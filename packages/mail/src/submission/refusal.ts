/** The error for a message that cannot be carried unchanged. Its text says what to do about it. */
export class Refusal extends Error {}
