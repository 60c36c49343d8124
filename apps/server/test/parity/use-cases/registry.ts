import type { UseCase } from '../use-case.ts';
import { alarms } from './alarms.ts';
import { audit } from './audit.ts';
import { bulk } from './bulk.ts';
import { captures } from './captures.ts';
import { domains } from './domains.ts';
import { erasures } from './erasures.ts';
import { holds } from './holds.ts';
import { keys } from './keys.ts';
import { messages } from './messages.ts';
import { numbers } from './numbers.ts';
import { people } from './people.ts';
import { queues } from './queues.ts';
import { requests } from './requests.ts';
import { suppressions } from './suppressions.ts';
import { transports } from './transports.ts';
import { webhooks } from './webhooks.ts';
import { workspaces } from './workspaces.ts';

/** Every operation that at least two APIs offer. */
export const useCases: readonly UseCase[] = [
  ...messages,
  ...domains,
  ...keys,
  ...suppressions,
  ...webhooks,
  ...captures,
  ...requests,
  ...erasures,
  ...numbers,
  ...audit,
  ...alarms,
  ...holds,
  ...bulk,
  ...workspaces,
  ...people,
  ...queues,
  ...transports,
];

/** Operations that only one API offers, or that are an alternative to a use case above. */
export const alone = {
  rest: {
    'POST /email/batch': 'Mail is sent by programs.',
    'GET /email/{id}': 'GET /email/logs/{id}, for who has the id of a message.',
  },
  graphql: {
    nodes: 'node, for many ids.',
  },
  trpc: {
    'people.me': 'It is about a person who is signed in.',
    'people.switchWorkspace': 'It is about a person who is signed in.',
    'people.changePassword': 'It is about a person who is signed in.',
    'people.sessions': 'It is about a person who is signed in.',
    'people.endSession': 'It is about a person who is signed in.',
    'people.endOtherSessions': 'It is about a person who is signed in.',
    'people.setName': 'It is about a person who is signed in.',
    'people.notices': 'It is about a person who is signed in.',
    'people.factors': 'It is about a person who is signed in.',
    'people.beginTotp': 'It is about a person who is signed in.',
    'people.activateTotp': 'It is about a person who is signed in.',
    'people.removeTotp': 'It is about a person who is signed in.',
    'people.renewRecoveryCodes': 'It is about a person who is signed in.',
    'people.signInPolicy': 'It is about people who sign in to the dashboard.',
    'people.setSignInPolicy': 'It is about people who sign in to the dashboard.',
    'invitations.list': 'Only the dashboard invites by email; GraphQL returns a sign-in link.',
    'invitations.create': 'Only the dashboard invites by email; GraphQL returns a sign-in link.',
    'invitations.resend': 'Only the dashboard invites by email; GraphQL returns a sign-in link.',
    'invitations.revoke': 'Only the dashboard invites by email; GraphQL returns a sign-in link.',
    live: 'A stream of what changes, for the tabs of a browser; GraphQL has subscriptions.',
    'session.token': 'It is about a person who is signed in.',
    'docs.search': 'It is for the search of the dashboard; everyone else has /docs/search.',
    'overview.summary': 'A page of the dashboard, made of what GraphQL has piece by piece.',
    'onboarding.state': 'A page of the dashboard.',
    'suppressions.byAddress': 'GraphQL has it as a field of the recipient; a program filters the list.',
    'events.byId': 'GraphQL has it as a field of the delivery; a program lists events.',
    'deliveries.ofEvents': 'GraphQL has them as a field of the event; a program lists those of a webhook.',
    'members.counts': 'A column of the page of workspaces; GraphQL lists the members.',
    'usage.months': 'A column of the page of workspaces; GraphQL has it as a field.',
    'webhooks.recoveryPreview': 'The preview of a dialog.',
    'requests.groups': 'A page of the dashboard; the list has each request.',
    'ops.bulkItems': 'GraphQL has them as a field of the bulk operation.',
  },
};
