// Writes apps/admin/client/operations.ts: the documents beside it, with the types of their variables and results.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { parseDocument, schemaText } from '@postrider/admin/schema';

const folder = new URL('../apps/admin/client/', import.meta.url);
export const clientFile = fileURLToPath(new URL('operations.ts', folder));

const scalars = { DateTime: 'string', EmailAddress: 'string', URL: 'string', BigInt: 'number', JSON: 'unknown' };

export async function clientText(): Promise<string> {
  const source = readFileSync(new URL('operations.graphql', folder), 'utf8');
  const output = await codegen({
    filename: clientFile,
    schema: parseDocument(schemaText()),
    documents: [{ location: 'operations.graphql', document: parseDocument(source) }],
    config: { scalars, strictScalars: true, enumsAsTypes: true, immutableTypes: true, useTypeImports: true },
    plugins: [{ 'typescript-operations': {} }, { 'typed-document-node': {} }],
    pluginMap: { 'typescript-operations': typescriptOperations, 'typed-document-node': typedDocumentNode },
  });
  // graphql exports the same type itself, under another name.
  const text = output.replace(
    /import type \{ TypedDocumentNode as DocumentNode \} from '@graphql-typed-document-node\/core';/,
    "import type { TypedQueryDocumentNode as DocumentNode } from 'graphql';",
  );
  return `// Made by node scripts/write-graphql-client.ts from operations.graphql.\n${text}`;
}

if (import.meta.main) writeFileSync(clientFile, await clientText());
