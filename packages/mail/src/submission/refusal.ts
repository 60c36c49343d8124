/** The error for a message that cannot be carried unchanged. Its text suggests how to fix the message. */
export class Refusal extends Error {}
