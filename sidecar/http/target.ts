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
 * Every path that an engine, or a proxy before it, could take this one for: as it stands, and percent-decoded again and
 * again, each without path parameters, repeated slashes and a slash at its end.
 * @throws GatewayError `invalid_path` for dot segments, backslashes and control characters in any of them
 */
export function readingsOf(path: string): string[] {
  const readings: string[] = [];
  let plain = path;
  for (let i = 0; i < ENCODINGS_MAX; i++) {
    if (/[\\\u0000-\u001f\u007f]|(^|\/)\.\.?(\/|;|$)/.test(plain)) throw invalidPath();
    readings.push(tidy(plain));
    const decoded = decode(plain);
    if (decoded === plain) return readings;
    // What came must be well encoded; what it decodes to may hold a lone percent sign.
    if (decoded === undefined && i === 0) throw invalidPath();
    if (decoded === undefined) return readings;
    plain = decoded;
  }
  throw invalidPath();
}

/** Servers tell a path with a slash too many apart: FastAPI redirects it. */
export function withoutExtraSlashes(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
}

/** `?` and `#` come out of an encoding, and end a path for those who decode before they split. */
function tidy(path: string): string {
  return withoutExtraSlashes(path.replace(/[?#].*/, '').replace(/;[^/]*/g, ''));
}

/** @throws GatewayError `invalid_path` for what the router could not decode. */
export function checkEncoding(path: string): void {
  if (path.includes('%') && decode(path) === undefined) throw invalidPath();
}

/** `undefined` for what is not percent-encoded UTF-8. */
function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

export function invalidPath(): GatewayError {
  return new GatewayError('invalid_path', 'The request path is not acceptable.');
}
