import type { LineBounds } from './fair-line.ts';
import type { PlacesBounds } from './places.ts';

// A 14 MiB body takes several times its size while it is parsed and stored; this limit allows four at a time, and its
// reserve one. More would only wait in memory, because large commits run one after another.
const BODY_BYTES = 64 * 1024 * 1024;
const MAX_BODY_WAIT_MS = 20_000;
const MAX_OWN_BODIES_WAITING = 50;

const MAX_OWN_PARSING_WAITING = 20;
const MAX_PARSING_WAIT_MS = 30_000;

/** Submitted messages being parsed. One thread is reserved for workspaces that are using no thread. */
export const parsingBounds = (threads: number): LineBounds => ({
  units: threads,
  own_units: threads - 1,
  reserve: 1,
  max_waiting: 10 * MAX_OWN_PARSING_WAITING,
  max_own_waiting: MAX_OWN_PARSING_WAITING,
  max_wait_ms: MAX_PARSING_WAIT_MS,
});

/** Large request bodies, in bytes. */
export const bodyBounds: LineBounds = {
  units: BODY_BYTES,
  own_units: BODY_BYTES / 2,
  reserve: BODY_BYTES / 4,
  max_waiting: 10 * MAX_OWN_BODIES_WAITING,
  max_own_waiting: MAX_OWN_BODIES_WAITING,
  max_wait_ms: MAX_BODY_WAIT_MS,
};

// Counts body bytes only; an email takes about four times its body's size while it is read, composed, signed and
// written.
const LARGE_EMAIL_BYTES = 64 * 1024 * 1024;
const LARGE_SANDBOX_BYTES = 16 * 1024 * 1024;

// Emails wait in their lanes, so nothing waits in these queues.
const unattended = { max_waiting: 0, max_own_waiting: 0, max_wait_ms: 0 };

/** Large emails being composed and written by one worker, in bytes. */
export const largeEmailBounds: LineBounds = {
  units: LARGE_EMAIL_BYTES,
  own_units: LARGE_EMAIL_BYTES / 2,
  reserve: LARGE_EMAIL_BYTES / 4,
  ...unattended,
};

export const largeSandboxBounds: LineBounds = {
  units: LARGE_SANDBOX_BYTES,
  own_units: LARGE_SANDBOX_BYTES / 2,
  reserve: LARGE_SANDBOX_BYTES / 4,
  ...unattended,
};

const DOMAIN_CHECKS = 8;

/** Background domain checks in a worker; due domains wait in the database. */
export const domainCheckBounds: LineBounds = { units: DOMAIN_CHECKS, own_units: 2, reserve: 4, ...unattended };

const KEY_THREADS = 2;
const MAX_OWN_KEYS_WAITING = 50;
const MAX_KEY_WAIT_MS = 30_000;

/** DKIM keys being generated, a tenth of a second each. Two of the thread pool's four threads, Node's default, stay free. */
export const keyBounds: LineBounds = {
  units: KEY_THREADS,
  own_units: 1,
  reserve: 1,
  max_waiting: 10 * MAX_OWN_KEYS_WAITING,
  max_own_waiting: MAX_OWN_KEYS_WAITING,
  max_wait_ms: MAX_KEY_WAIT_MS,
};

// A two-megabyte commit takes as long as a commit of many small emails.
const LARGE_COMMIT_BYTES = 2 * 1024 * 1024;

/** Large submissions being committed, in bytes. */
export const largeCommitBounds: LineBounds = {
  units: LARGE_COMMIT_BYTES,
  own_units: LARGE_COMMIT_BYTES / 2,
  reserve: LARGE_COMMIT_BYTES / 2,
  max_waiting: 10 * MAX_OWN_BODIES_WAITING,
  max_own_waiting: MAX_OWN_BODIES_WAITING,
  max_wait_ms: MAX_BODY_WAIT_MS,
};

const BOUNCE_CLIENTS = 50;
const BOUNCE_CLIENTS_PER_NETWORK = 10;

/** Connections to the port for returned email. */
export const bounceClientBounds: PlacesBounds = {
  places: BOUNCE_CLIENTS,
  own_places: BOUNCE_CLIENTS_PER_NETWORK,
  reserve: 15,
};

const CAPTURE_CLIENTS = 50;
const CAPTURE_CLIENTS_PER_NETWORK = 25;

/** Connections to the port that captures email; all programs on this machine count as one network. */
export const captureClientBounds: PlacesBounds = {
  places: CAPTURE_CLIENTS,
  own_places: CAPTURE_CLIENTS_PER_NETWORK,
  reserve: 15,
};

const SUBMISSION_CLIENTS = 200;
const SUBMISSION_CLIENTS_PER_WORKSPACE = 100;
const SUBMISSION_STRANGERS = 200;
const SUBMISSION_STRANGERS_PER_NETWORK = 20;

/** Connections to the submission ports that have logged in, by workspace. */
export const submissionClientBounds: PlacesBounds = {
  places: SUBMISSION_CLIENTS,
  own_places: SUBMISSION_CLIENTS_PER_WORKSPACE,
  reserve: 60,
};

/** Connections to the submission ports that have not logged in, by network. */
export const submissionStrangerBounds: PlacesBounds = {
  places: SUBMISSION_STRANGERS,
  own_places: SUBMISSION_STRANGERS_PER_NETWORK,
  reserve: 60,
};

const SUBMISSION_BYTES = 128 * 1024 * 1024;

/** Bytes of submitted email being read or stored, by workspace. */
export const submissionByteBounds: PlacesBounds = {
  places: SUBMISSION_BYTES,
  own_places: SUBMISSION_BYTES / 2,
  reserve: SUBMISSION_BYTES / 4,
};

const DOC_SEARCHES = 2400;
const DOC_SEARCHES_PER_NETWORK = 240;

/** Documentation searches per minute, by network, because they require no sign-in. */
export const docSearchBounds: PlacesBounds = {
  places: DOC_SEARCHES,
  own_places: DOC_SEARCHES_PER_NETWORK,
  reserve: DOC_SEARCHES / 2,
};

const PASSWORD_CHECKS = 20;
const PASSWORD_CHECKS_PER_NETWORK = 5;

/**
 * Passwords waiting to be checked, a third of a second each, by network; known devices and sessions have places of
 * their own.
 */
export const passwordBounds: PlacesBounds = {
  places: PASSWORD_CHECKS,
  own_places: PASSWORD_CHECKS_PER_NETWORK,
  reserve: PASSWORD_CHECKS / 2,
};
