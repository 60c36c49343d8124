export const words = {
  title: 'Dock',
  close: 'Close dock',
  tabs: { events: 'Events', requests: 'Rejected requests', webhooks: 'Webhooks', graphql: 'GraphQL' },
  empty: {
    events: 'No events yet. Send an email to see each step here.',
    requests: 'No rejected requests in the last 7 days.',
    webhooks: 'No webhook deliveries yet.',
  },
  columns: {
    at: 'Time',
    type: 'Event',
    about: 'Subject',
    reason: 'Reason',
    route: 'Route',
    state: 'Status',
    answer: 'Response',
  },
  denied: {
    requests: 'Only workspace admins can see rejected requests.',
    webhooks: 'Only workspace members can see webhooks.',
  },
  graphql: {
    query: 'Query',
    run: 'Run',
    answer: 'GraphQL response',
    about: 'Runs with your permissions. Press Ctrl Enter to run.',
    more: 'Open GraphiQL',
    first: '{\n  messages(first: 5) {\n    nodes { id status subject }\n  }\n}',
  },
};
