import { GatewayError } from '../errors.js';

/** How often a path may have been percent-encoded on top of itself and still be looked through. */
const ENCODINGS_MAX = 4;

/** Splits a request target into its path and its query, which keeps its question mark. */
export function splitTarget(url: string): { readonly path: string; readonly search: string } {
  const at = url.indexOf('?');
  return at < 0 ? { path: url, search: '' } : { path: url.slice(0, at), search: url.slice(at) };
}

/** The target in origin form: a proxy's absolute form, which servers must accept too (RFC 9112 3.2.2), loses its authority. */
export function originForm(url: string): string {
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url);
  if (absolute === null) return url;
  const rest = url.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Refuses paths that an engine, or a proxy before it, could take for another path: dot segments, backslashes and
 * control characters, plain or percent-encoded, also more than once.
 * @throws GatewayError `invalid_path`
 */
export function checkPath(path: string): void {
  // Nearly every path is made of these, and has no dot segment unless a dot stands behind a slash.
  if (/^[\w/:-]*$/.test(path)) return;
  let plain = path;
  for (let i = 0; i < ENCODINGS_MAX; i++) {
    if (/[\\\u0000-\u001f\u007f]|(^|\/)\.\.?(\/|;|$)/.test(plain)) throw refused();
    const decoded = decode(plain);
    if (decoded === plain) return;
    // What came must be well encoded; what it decodes to may hold a lone percent sign.
    if (decoded === undefined && i === 0) throw refused();
    if (decoded === undefined) return;
    plain = decoded;
  }
  throw refused();
}

/** `undefined` for what is not percent-encoded UTF-8. */
function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function refused(): GatewayError {
  return new GatewayError('invalid_path', 'The request path is not acceptable.');
}
