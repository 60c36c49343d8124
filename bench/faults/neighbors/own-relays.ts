function askGraphql(port: number, secret: string, query: string, variables: object): Promise<unknown> {
  return fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  }).then((response) => response.json());
}

/** Creates a relay of a workspace on this machine. */
export async function createRelay(port: number, secret: string, name: string, relay_port: number): Promise<string> {
  const query = `mutation ($input: TransportInput!) {
    transportCreate(input: $input) { ... on TransportPayload { transport { id } } ... on ApiError { message } }
  }`;
  const input = { reach: 'WORKSPACE', name, kind: 'SMTP', host: '127.0.0.1', port: relay_port, tls: 'NONE' };
  const body = (await askGraphql(port, secret, query, { input })) as {
    data?: { transportCreate?: { transport?: { id: string } } };
  };
  const id = body.data?.transportCreate?.transport?.id;
  if (id === undefined) throw new Error(`no relay: ${JSON.stringify(body)}`);
  return id;
}

/** Returns a relay that a workspace has. */
export async function ownRelay(port: number, secret: string): Promise<string> {
  const body = (await askGraphql(port, secret, '{ transports(reach: WORKSPACE) { id } }', {})) as {
    data?: { transports?: readonly { id: string }[] };
  };
  const [relay] = body.data?.transports ?? [];
  if (!relay) throw new Error(`no relay: ${JSON.stringify(body)}`);
  return relay.id;
}

/** Sets up the feedback of a relay, and returns where and how it reports. */
export async function setFeedback(port: number, secret: string, id: string): Promise<{ url: string; secret: string }> {
  const query = `mutation ($input: TransportFeedbackInput!) {
    transportFeedbackSet(input: $input) {
      ... on TransportFeedbackPayload { secret feedback { url } } ... on ApiError { message }
    }
  }`;
  const body = (await askGraphql(port, secret, query, { input: { id, provider: 'GENERIC' } })) as {
    data?: { transportFeedbackSet?: { secret?: string; feedback?: { url: string } } };
  };
  const { secret: signing_secret, feedback } = body.data?.transportFeedbackSet ?? {};
  if (!signing_secret || !feedback) throw new Error(`no feedback: ${JSON.stringify(body)}`);
  return { url: feedback.url, secret: signing_secret };
}
