export const words = {
  workers: {
    title: 'Workers',
    answer: {
      none: 'No worker is live: nothing is sent until one starts.',
      some: (live: number, gone: number) =>
        `${live} ${live === 1 ? 'worker is' : 'workers are'} live${gone > 0 ? `; ${gone} ended within a day` : ''}.`,
    },
    columns: {
      name: 'Worker',
      state: 'State',
      active: 'Running',
      memory: 'Memory',
      cpu: 'Cores',
      delay: 'Loop delay p99',
      heartbeat: 'Heartbeat',
      started: 'Started',
      crashes: 'Crashes',
    },
    states: { live: 'Live', stopped: 'Stopped', lost: 'Lost' },
    lostAbout: 'It has not been heard of for three heartbeats and did not say that it stops.',
  },
  schedules: {
    title: 'Schedules',
    answer: (count: number) => `${count} jobs run by the clock.`,
    columns: { name: 'Schedule', words: 'When', next: 'Next', last: 'Last run', state: 'Result' },
    run: 'Run now',
    ran: (name: string) => `${name} was added to its queue.`,
    never: 'never',
  },
};
