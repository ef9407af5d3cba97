const PLAIN_URL = 'must be an http:// or https:// URL without user, query or fragment';

/** A host, with or without a port, is a URL but for its beginning. */
export const plainUrlError = ({ input }: { readonly input?: unknown }): string =>
  typeof input === 'string' && /^[\w.-]+(:\d+)?(\/v1)?\/?$/.test(input)
    ? `${PLAIN_URL}: did you mean http://${input}?`
    : PLAIN_URL;

/** Credentials in a URL would appear in logs and metrics. A query cannot stand before the path of a call. */
export function isPlainUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}
