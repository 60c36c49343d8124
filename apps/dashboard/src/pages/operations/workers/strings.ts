const jobs = (count: number) => `${count.toLocaleString('en')} active ${count === 1 ? 'job' : 'jobs'}`;

export const words = {
  workers: {
    title: 'Workers',
    answer: {
      none: 'No worker is running. Nothing is sent until one starts.',
      some: (live: number, active: number, stopped: number) =>
        `${live} ${live === 1 ? 'worker' : 'workers'}, ${jobs(active)}${stopped > 0 ? `, ${stopped} stopped in the last 24 hours` : ''}`,
    },
    start: {
      title: 'Start a worker',
      about:
        'Workers send email and webhooks. Accepted email stays queued and is sent once a worker runs. Start one with the same DATABASE_URL and SECRET_KEY as this process, or add worker to its ROLES.',
      command: 'ROLES=worker npm start',
      what: 'Command',
    },
    jobs,
    of: (count: number, limit: number) => `${count.toLocaleString('en')} of ${limit.toLocaleString('en')}`,
    columns: {
      name: 'Worker',
      state: 'Status',
      active: 'Active jobs',
      memory: 'Memory',
      cpu: 'CPU cores',
      delay: 'Event loop delay p99',
      heartbeat: 'Heartbeat',
      started: 'Started',
      crashes: 'Crashes',
    },
    detail: {
      version: 'Version',
      host: 'Host',
      stopped: 'Stopped',
      pool: 'Requests waiting for a connection',
      id: 'ID',
      queues: 'Queues',
      queuesAbout: 'Running jobs by queue, across all workers.',
      gone: 'Worker no longer listed. Stopped workers are listed for 24 hours.',
    },
    states: { live: 'Live', stopped: 'Stopped', lost: 'Lost' },
    lostAbout: 'Missed three heartbeats without shutting down.',
  },
  schedules: {
    title: 'Schedules',
    answer: (count: number) => `${count} scheduled ${count === 1 ? 'job' : 'jobs'}`,
    columns: { name: 'Schedule', purpose: 'Purpose', words: 'Runs', next: 'Next run', last: 'Last run' },
    purposes: {
      'feedback.match': 'Matches what relays reported before their attempt was recorded.',
      'domain.recheck': 'Checks the DNS records of domains that are due and updates their status.',
      'numbers.roll_up': 'Counts email outcomes by minute, hour and day for metrics.',
      'storage.maintain': 'Deletes expired data and creates partitions for the coming months.',
    },
    cron: 'Cron',
    missed: 'Missed runs',
    missedPolicies: { skip: 'Skipped', once: 'Run once' },
    nextRuns: 'Next runs',
    jobs: 'View jobs',
    gone: 'Schedule no longer exists.',
    run: 'Run now',
    ran: (name: string) => `${name} queued`,
    never: 'None stored',
  },
};
