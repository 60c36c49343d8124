export const words = {
  title: 'Webhooks',
  answer: {
    none: 'No webhooks yet.',
    well: (count: number) => `${count} healthy ${count === 1 ? 'endpoint' : 'endpoints'}`,
    fresh: (unused: number) =>
      `${unused} ${unused === 1 ? 'endpoint has' : 'endpoints have'} had no successful delivery`,
    failing: (count: number) => `${count} failing ${count === 1 ? 'endpoint' : 'endpoints'}`,
  },
  create: 'Create webhook',
  columns: {
    url: 'URL',
    events: 'Events',
    state: 'Status',
    rate: 'Success, 24 h',
    p95: 'p95',
    success: 'Last success',
  },
  allEvents: 'All events',
  formats: { postrider: 'Postrider (Standard Webhooks)', resend: 'Resend-compatible (Svix)' },
  states: {
    enabled: 'Healthy',
    failing: 'Failing',
    disabled: 'Disabled',
    fresh: 'No deliveries yet',
    unproven: 'No success yet',
  },
  quality: {
    title: 'Last 24 hours',
    none: 'No deliveries in the last 24 hours',
    noResponse: 'No response in the last 24 hours',
    /** Rounds down, so that only a faultless endpoint has 100%. */
    percent: (rate: number) => `${rate > 0.99 ? Math.floor(rate * 1000) / 10 : Math.floor(rate * 100)}%`,
    line: (rate: string, p95: string | null) =>
      p95 === null ? `${rate} succeeded, no response` : `${rate} succeeded, p95 response time ${p95}`,
    limited: 'Last 1,000 attempts',
    attempts: (count: number) => `${count} ${count === 1 ? 'attempt' : 'attempts'} in the last 24 hours`,
  },
  failingAbout: 'Recent deliveries failed.',
  never: 'Never',
  newRows: (count: number) => `${count} new`,
  catalogue: 'Event types and their payloads',
  empty: {
    title: 'Get notified about deliveries and bounces',
    about:
      'Postrider sends each event to your endpoint, signed with Standard Webhooks, and retries for up to three days until it returns 2xx. To receive events on your own machine, run this next to your application:',
  },
  fields: {
    url: 'URL',
    urlAbout:
      'An HTTPS URL that returns 2xx within 10 seconds. While email is captured (DELIVERY=capture), you can also use a local URL, such as http://localhost:4000/hooks.',
    events: 'Events',
    eventsAll: 'All events, including ones added later',
    formats: {
      postrider: ['Postrider', 'Signed with Standard Webhooks.'],
      resend: ['Resend', 'For code written for Resend webhooks. Signed with Svix headers.'],
    } satisfies Record<string, readonly [string, string]>,
    description: 'Description',
    create: 'Create webhook',
    save: 'Save webhook',
    saved: 'Webhook saved',
  },
  secret: {
    title: 'Signing secret',
    once: 'Copy this secret now. You won’t be able to see it again. Your endpoint uses it to verify signatures.',
    env: 'For .env',
    stored: 'I’ve stored this secret',
    guard: 'Store the secret and check the box first. You won’t be able to see it again.',
    done: 'Done',
  },
  detail: {
    title: 'Webhook',
    facts: 'Details',
    about: 'Description',
    secret: 'Secret ends in',
    previous: 'Previous secret valid until',
    failing: 'Failing since',
    paused: 'Paused until',
    format: 'Payload format',
    mode: 'Mode',
    plan: 'Retry policy',
    planSteps: [
      'Retries after 5 s, 1 min, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, unless WEBHOOK_RETRY_SCHEDULE says otherwise',
      'Pauses for 10 s to 5 min after five failures in a row',
      'Disables the endpoint after five days without a success, or immediately if it returns 410',
    ],
    deliveries: 'Deliveries',
    test: 'Send test event',
    tested: 'Test event queued',
    edit: 'Edit',
    rotate: 'Rotate secret',
    recover: 'Recover failed deliveries',
    disable: 'Disable',
    enable: 'Enable',
    remove: 'Delete',
    more: 'More actions',
    states: { all: 'All', pending: 'Pending', delivered: 'Delivered', failed: 'Failed' },
    filter: 'Status',
    columns: {
      type: 'Event',
      subject: 'Email',
      state: 'Status',
      status: 'Response',
      attempts: 'Attempts',
      at: 'Time',
      took: 'Duration',
    },
    noDeliveries: 'No deliveries yet. Send a test event to check your endpoint.',
  },
  verify: {
    open: 'Verify in code',
    title: 'Verify a signature',
    about:
      'Anyone can send requests to your URL, so verify each signature. It’s the HMAC-SHA256 of id.timestamp.body, keyed with your secret. After a rotation there are two signatures, and either one is enough.',
    after:
      'Return 2xx within 10 seconds and process the event afterward. An event can arrive more than once, with the same ID.',
    languages: 'Language',
    names: { typescript: 'TypeScript', python: 'Python', go: 'Go', php: 'PHP', shell: 'Shell' },
  },
  waiting: {
    next: 'Next attempt',
    paused: 'Endpoint paused, next attempt',
    disabled: 'Endpoint disabled',
    held: 'On hold until released',
    heldUntil: 'On hold until released, or until',
  },
  rotating: {
    title: 'Rotate secret?',
    about:
      'Creates a new secret. For 24 hours, requests are signed with both secrets, so you can switch without rejecting any requests.',
    submit: 'Rotate secret',
  },
  recovering: {
    title: 'Recover failed deliveries',
    since: 'Events since',
    noTime: 'Choose a time.',
    about:
      'Resends every event since a time that failed or was missed, with its original ID. To resend one delivery, open it and replay it.',
    submit: 'Recover deliveries',
    done: (count: string) => `${count} queued`,
    count: (count: number, exact: boolean) =>
      `${exact ? '' : 'at least '}${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`,
    matched: (count: string) => `Recovers ${count}`,
    counting: 'Counting deliveries…',
    first: 'First event',
    last: 'Last event',
    nothing: ({ pending, delivered }: { readonly pending: number; readonly delivered: number }) =>
      pending + delivered === 0
        ? 'No events for this endpoint since then.'
        : delivered === 0
          ? 'All deliveries since then are still pending.'
          : pending === 0
            ? 'All events since then were delivered.'
            : `No failed deliveries since then: ${delivered} delivered, ${pending} still pending.`,
  },
  deleting: {
    title: 'Delete this webhook?',
    about: 'Pending deliveries are dropped, and no more events are sent to this endpoint.',
    keep: 'Keep webhook',
    submit: 'Delete webhook',
    done: 'Webhook deleted',
  },
  delivery: {
    id: 'webhook-id',
    attempts: 'Attempts since the last replay',
    next: 'Pending',
    error: 'Error',
    each: 'Attempts, newest first',
    none: 'No attempts yet.',
    attempt: (number: number) => `Attempt ${number}`,
    noStatus: 'No response',
    sentHeaders: 'Request headers',
    gotHeaders: 'Response headers',
    noAnswer: 'The response had no body.',
    posted: 'Request body',
    asCurl: 'As curl',
    asCurlAbout: 'Without the signature, which is different for each attempt.',
    replay: 'Replay delivery',
    replayed: 'Replay queued',
  },
};
