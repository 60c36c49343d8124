/** The load and the faults of a run, and the limits that the service must stay within. */
export interface Plan {
  readonly calm_s: number;
  readonly sink_s: number;
  readonly worker_kills: number;
  readonly api_kills: number;
  /** Time between two kills, so that the service does some work in between and not just restarts. */
  readonly kill_gap_s: readonly [least: number, most: number];
  readonly crashes: number;
  /** Connections cut while a batch of messages, or of results, is on its way to the database. */
  readonly cuts: number;
  /** The database responds slowly, and connections to it and to mail servers are half closed. */
  readonly half_closes: boolean;
  readonly freeze_database_s: number;
  readonly mute_database_s: number;
  /** A worker is stopped, loses its connections, is considered dead and comes back. */
  readonly split_s: number;
  readonly zombies: number;
  readonly zombie_s: number;
  readonly rolling_restart: boolean;
  /** Messages to servers that take minutes, and clients that take minutes to send a body. */
  readonly slow_peers: number;
  readonly messages: number;
  readonly per_second: number;
  /** How far ahead messages may be scheduled. */
  readonly horizon_s: number;
  readonly drain_s: number;
  /** Keeps this many recipients open until the last kill, instead of sending at a steady rate. */
  readonly backlog: number | null;
  /** Messages whose response takes this long must not be sent again; the faults are over by then. */
  readonly long_answer_s: number;
  /** Null if the machine's speed is not judged. */
  readonly speed: Speed | null;
}

/** Upper limits, in seconds. */
export interface Speed {
  readonly takeover: number;
  readonly first_accept: number;
  readonly away_p95: number;
  readonly away_p99: number;
  readonly all_p99: number;
  readonly all_max: number;
}

// Messages claimed by a killed worker wait until their 30 s lease expires.
const SPEED: Speed = { takeover: 10, first_accept: 10, away_p95: 2, away_p99: 35, all_p99: 35, all_max: 90 };

const slice: Plan = {
  calm_s: 3,
  sink_s: 4,
  worker_kills: 4,
  api_kills: 1,
  kill_gap_s: [0.1, 1.5],
  crashes: 1,
  cuts: 1,
  half_closes: false,
  freeze_database_s: 0,
  mute_database_s: 3,
  split_s: 5,
  zombies: 0,
  zombie_s: 0,
  rolling_restart: false,
  slow_peers: 0,
  messages: 1000,
  per_second: 40,
  horizon_s: 15,
  drain_s: 180,
  backlog: null,
  long_answer_s: 0,
  speed: null,
};

export const plans = {
  slice,
  full: {
    ...slice,
    calm_s: 15,
    sink_s: 15,
    worker_kills: 20,
    api_kills: 6,
    kill_gap_s: [5, 9],
    crashes: 3,
    cuts: 2,
    freeze_database_s: 15,
    mute_database_s: 20,
    zombies: 2,
    zombie_s: 25,
    rolling_restart: true,
    slow_peers: 2,
    messages: 10_000,
    per_second: 90,
    horizon_s: 60,
    drain_s: 180,
    speed: SPEED,
  },
  backlog: {
    ...slice,
    sink_s: 0,
    worker_kills: 10,
    api_kills: 0,
    crashes: 0,
    cuts: 0,
    mute_database_s: 0,
    split_s: 0,
    messages: 0,
    drain_s: 180,
    backlog: 4000,
    speed: SPEED,
  },
  mutants: { ...slice, worker_kills: 6, cuts: 3, half_closes: true, long_answer_s: 70, drain_s: 180 },
} as const satisfies Record<string, Plan>;
export type PlanName = keyof typeof plans;
