import { existsSync, readFileSync, readdirSync } from 'node:fs';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { GatewayError } from '../errors.js';
import { send } from '../http/answer.js';
import type { Handler, Routes } from '../http/listener.js';

/** Where `npm run build` puts the page, as seen from the built gateway and from its sources. */
const FOLDERS = ['../../ui', '../../dist/ui'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Nothing but the page's own files, which hold no markup from elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

type PageFile = Readonly<Record<'bytes' | 'packed', Buffer>> & { readonly type: string };

/** The page of `/ui`, read and packed once. Without data, it needs no token. @param folder absent: the built one */
export function pageRoutes(folder?: string): Routes {
  let files: ReadonlyMap<string, PageFile> = new Map();
  const find = (name: string) => {
    if (files.size === 0) files = readFiles(folder === undefined ? FOLDERS : [folder]);
    return files.get(name);
  };
  const toPage: Handler = (_, response, { id }) =>
    send(response, 302, 'page', Buffer.of(), {
      location: id === undefined ? '/ui' : `/ui?program=${encodeURIComponent(id)}`,
    });
  return {
    '/': { GET: toPage },
    '/ui/programs/:id': { GET: toPage },
    '/ui': { GET: (_, response) => sendPage(response, find('index.html')) },
    '/ui/assets/:file': {
      GET: (_, response, params) => {
        const file = find(`assets/${params['file'] ?? ''}`);
        if (file === undefined) throw new GatewayError('unknown_path', 'The page has no such file. Load it again.');
        // Its name holds the hash of its content.
        sendFile(response, 200, file, { 'cache-control': 'public, max-age=31536000, immutable' });
      },
    },
  };
}

/** The files of the first folder that holds a built page; one without assets has the page's sources. */
function readFiles(folders: readonly string[]): ReadonlyMap<string, PageFile> {
  const folder = folders.find((each) => existsSync(join(each, 'assets')));
  if (folder === undefined) return new Map();
  const names = ['index.html', ...readdirSync(join(folder, 'assets')).map((name) => `assets/${name}`)];
  const known = names.filter((name) => extname(name) in TYPES);
  return new Map(known.map((name) => [name, pageFile(readFileSync(join(folder, name)), TYPES[extname(name)] ?? '')]));
}

const pageFile = (bytes: Buffer, type: string): PageFile => ({ bytes, packed: gzipSync(bytes), type });

const NOT_BUILT = 'The page is not built. Run `npm run build`, then load it again.\n';

function sendPage(response: ServerResponse, file: PageFile | undefined): void {
  const shown = file ?? pageFile(Buffer.from(NOT_BUILT), 'text/plain; charset=utf-8');
  sendFile(response, file === undefined ? 404 : 200, shown, {
    'cache-control': 'no-store',
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
}

function sendFile(response: ServerResponse, status: number, file: PageFile, headers: OutgoingHttpHeaders): void {
  const packs = /\bgzip\b/i.test(response.req.headers['accept-encoding'] ?? '');
  send(response, status, 'page', packs ? file.packed : file.bytes, {
    'content-type': file.type,
    ...(packs && { 'content-encoding': 'gzip' }),
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
}
