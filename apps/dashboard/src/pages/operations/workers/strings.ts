export const words = {
  workers: {
    title: 'Workers',
    answer: {
      none: 'No worker is running. Nothing is sent until one starts.',
      some: (live: number, stopped: number) =>
        `${live} live ${live === 1 ? 'worker' : 'workers'}${stopped > 0 ? `, ${stopped} stopped in the last 24 hours` : ''}`,
    },
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
    states: { live: 'Live', stopped: 'Stopped', lost: 'Lost' },
    lostAbout: 'Missed three heartbeats without shutting down.',
  },
  schedules: {
    title: 'Schedules',
    answer: (count: number) => `${count} scheduled ${count === 1 ? 'job' : 'jobs'}`,
    columns: { name: 'Schedule', words: 'Runs', next: 'Next run', last: 'Last run', state: 'Result' },
    run: 'Run now',
    ran: (name: string) => `${name} queued`,
    never: 'Never',
  },
};
