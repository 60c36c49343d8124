const MAX_CHARSET_SHOWN = 40;

/** Returns the reason why a Content-Type does not declare JSON in UTF-8, or null if it does. */
export function jsonMediaProblem(content_type: string | undefined): string | null {
  const [media = '', ...parameters] = (content_type ?? '').split(';');
  if (media.trim().toLowerCase() !== 'application/json') return 'Send the body as Content-Type: application/json.';
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2);
    if (name.trim().toLowerCase() !== 'charset') continue;
    const charset = value.trim().replace(/^"(.*)"$/, '$1');
    if (!/^utf-?8$/i.test(charset))
      return `The charset ${charset.slice(0, MAX_CHARSET_SHOWN)} is not supported. Send JSON in UTF-8.`;
  }
  return null;
}
