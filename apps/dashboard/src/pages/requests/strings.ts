export const words = {
  title: 'Logs',
  answer: {
    none: 'No rejected requests in the last 24 hours.',
    some: (count: string, first: string) =>
      `${count} rejected or failed in the last 24 hours. Most frequent reason: ${first}.`,
    one: (count: string, first: string) => `${count} rejected or failed in the last 24 hours. Reason: ${first}.`,
  },
  counted: (count: number, atLeast: boolean) =>
    `${atLeast ? 'At least ' : ''}${count.toLocaleString('en')} ${count === 1 ? 'request' : 'requests'}`,
  groups: 'By reason, last 24 hours',
  groupColumns: { reason: 'Reason', route: 'Route', last: 'Last seen', count: 'Count' },
  columns: { status: 'Status', reason: 'Reason', route: 'Route', message: 'Error', took: 'Duration', at: 'Time' },
  each: 'All requests',
  only: 'Reason:',
  all: 'Clear filter',
  fresh: (count: number) => `${count} new`,
  empty: {
    title: 'No rejected requests',
    about:
      'Rejected and failed API requests appear here until they expire (RETENTION_REQUESTS), with each error and a corrected request. Try one:',
    none: 'No results',
    noneAbout: 'No stored request was rejected for this reason.',
  },
  detail: {
    whatToDo: 'About this error',
    faults: 'Errors',
    place: 'Field',
    message: 'Message',
    body: 'Request body',
    bodyAbout: 'Addresses are masked and content is omitted. Up to 4 kB is stored.',
    corrected: 'Corrected request',
    correctedAbout: 'Each error is fixed with an example value. Replace the examples and the API key with your own.',
    noBody: 'The request body was not stored.',
    key: 'API key',
    person: 'User',
    id: 'Request ID',
    at: 'Time',
    took: 'Duration',
    status: 'Status',
    missing: 'Request not found. It may have expired, or it was accepted.',
  },
};
