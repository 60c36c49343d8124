// Made by node scripts/write-graphql-client.ts from operations.graphql.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedQueryDocumentNode as DocumentNode } from 'graphql';
/** The filters of GET /v1/email/logs, combined with AND. */
export type MessageFilter = {
  /** Sender domain. */
  readonly domain?: string | null | undefined;
  /** The sender address. */
  readonly from?: string | null | undefined;
  /** The priority within the workspace. */
  readonly priority?: Priority | null | undefined;
  /** Created at or after this time. */
  readonly since?: string | null | undefined;
  /** One of these. */
  readonly status?: ReadonlyArray<MessageStatus> | null | undefined;
  /** The message must have all of these. */
  readonly tags?: ReadonlyArray<string> | null | undefined;
  /** A recipient, including cc and bcc. */
  readonly to?: string | null | undefined;
  /** A recipient domain, including cc and bcc. */
  readonly toDomain?: string | null | undefined;
  /** The ID of a transport of any attempt, or "default" for DELIVERY. */
  readonly transport?: string | null | undefined;
  /** Created before this time. */
  readonly until?: string | null | undefined;
};

/** The least advanced open status among its recipients or, once all of them are closed, the worst status. */
export type MessageStatus =
  | 'BOUNCED'
  | 'CANCELED'
  | 'COMPLAINED'
  | 'DEFERRED'
  | 'DELIVERED'
  | 'FAILED'
  | 'QUEUED'
  | 'SCHEDULED'
  | 'SENDING'
  | 'SUPPRESSED';

/** The email's priority within its workspace. While emails of all three priorities wait for a destination, they are sent in the ratio 8:4:1. */
export type Priority =
  | 'BULK'
  | 'HIGH'
  | 'NORMAL';

export type RecentMessagesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: MessageFilter | null | undefined;
}>;


export type RecentMessagesQuery = { readonly messages: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly status: MessageStatus, readonly subject: string, readonly to: ReadonlyArray<string>, readonly createdAt: string, readonly timeline: { readonly nodes: ReadonlyArray<{ readonly type: string, readonly at: string }> } }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } };

export type CancelMessageMutationVariables = Exact<{
  id: string | number;
}>;


export type CancelMessageMutation = { readonly messageCancel:
    | { readonly __typename: 'ForbiddenError', readonly reason: string, readonly message: string, readonly requestId: string }
    | { readonly __typename: 'InvalidInputError', readonly reason: string, readonly message: string, readonly requestId: string }
    | { readonly __typename: 'MessagePayload', readonly email: { readonly id: string, readonly status: MessageStatus } }
    | { readonly __typename: 'NotFoundError', readonly reason: string, readonly message: string, readonly requestId: string }
    | { readonly __typename: 'StateError', readonly reason: string, readonly message: string, readonly requestId: string }
   };


export const RecentMessagesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RecentMessages"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"MessageFilter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messages"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"subject"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"timeline"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"5"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"at"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<RecentMessagesQuery, RecentMessagesQueryVariables>;
export const CancelMessageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CancelMessage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messageCancel"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"MessagePayload"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}}]}}]}}]}}]} as unknown as DocumentNode<CancelMessageMutation, CancelMessageMutationVariables>;