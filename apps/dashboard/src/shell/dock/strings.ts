export const words = {
  title: 'Dock',
  close: 'Close the dock',
  tabs: { events: 'Events', requests: 'Refused requests', webhooks: 'Webhooks', graphql: 'GraphQL' },
  empty: {
    events: 'No event yet. Send a mail, and each step of it appears here.',
    requests: 'No request was refused in the last week.',
    webhooks: 'Nothing has been posted to a webhook yet.',
  },
  columns: {
    at: 'When',
    type: 'Event',
    about: 'About',
    reason: 'Reason',
    route: 'Route',
    state: 'State',
    answer: 'Answer',
  },
  denied: {
    requests: 'Only an admin of the workspace sees refused requests.',
    webhooks: 'Only a member of the workspace sees its webhooks.',
  },
  graphql: {
    query: 'Query',
    run: 'Run',
    answer: 'the answer of GraphQL',
    about: 'Asked with the rights of your session. Ctrl Enter runs it.',
    more: 'Open GraphiQL',
    first: '{\n  messages(first: 5) {\n    nodes { id status subject }\n  }\n}',
  },
};
