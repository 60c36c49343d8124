export const pascalCase = (text: string) =>
  text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
export const camelCase = (text: string) => pascalCase(text).replace(/^./, (first) => first.toLowerCase());

interface Names {
  readonly operation_id: string;
  readonly tag: string;
}

/** Returns an operation's resource and method in the client: email_send is `email` and `send`. */
export function sdkNames({ operation_id, tag }: Names): { readonly resource: string; readonly method: string } {
  const prefix = `${tag.replaceAll('-', '_')}_`;
  const name = operation_id.startsWith(prefix) ? operation_id.slice(prefix.length) : operation_id;
  return { resource: camelCase(tag), method: camelCase(name) };
}

export function sdkCall(names: Names): string {
  const { resource, method } = sdkNames(names);
  return `postrider.${resource}.${method}`;
}
