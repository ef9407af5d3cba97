import { Document, isPair, isScalar, isSeq, visit } from 'yaml';
import { CONFIG_KEYS, configSchema } from '../../sidecar/config/index.js';
import { wrapped } from '../text.js';

const COMMENT_WIDTH = 100;

/** Keys that are often changed, shown with their defaults. */
const SUGGESTED: readonly string[] = [
  'policy.name',
  'balancer.name',
  'admission.gate',
  'limits.queuedMax',
  'timeouts.queueMs',
  'timeouts.drainMs',
  'timeouts.leaseMs',
  'identity.reuseMs',
  'log.level',
];

const DESCRIPTIONS = new Map(CONFIG_KEYS.map(({ path, note }) => [path, note.description]));

/** A configuration file with these values, a comment for each key, and further keys commented out. */
export function documentOf(values: Readonly<Record<string, unknown>>, head: readonly string[]): string {
  const chosen = SUGGESTED.filter((path) => !((path.split('.')[0] ?? '') in values));
  return [
    comment(head.join('\n')),
    '',
    commented(values),
    comment('Further keys with their defaults; docs/CONFIG.md has all of them. Remove the first "# " of a section and its keys to change them.'), // prettier-ignore
    '',
    commented(defaultsOf(chosen)).trimEnd().replaceAll(/^/gm, '# '),
    '',
  ].join('\n');
}

/** YAML with the description of each key before it; of the elements of a list, the first has them. */
function commented(values: unknown): string {
  const document = new Document(values);
  visit(document, {
    Pair(_, { key }, ancestors) {
      if (!isScalar(key)) return;
      const isLater = ancestors.some((node, at) => isSeq(node) && node.items.indexOf(ancestors[at + 1]) > 0);
      const above = ancestors.map((node) => (isPair(node) ? `.${String(node.key)}` : isSeq(node) ? '[]' : '')).join('');
      const description = DESCRIPTIONS.get(`${above}.${String(key)}`.slice(1));
      if (description === undefined || isLater) return;
      key.commentBefore = wrapped(description, COMMENT_WIDTH).map((line) => ` ${line}`).join('\n'); // prettier-ignore
    },
  });
  return document.toString({ lineWidth: 0 });
}

function defaultsOf(paths: readonly string[]): Record<string, Record<string, unknown>> {
  const config = configSchema.parse({}) as unknown as Record<string, Record<string, unknown>>;
  const chosen: Record<string, Record<string, unknown>> = {};
  for (const path of paths) {
    const [section = '', key = ''] = path.split('.');
    chosen[section] = { ...chosen[section], [key]: config[section]?.[key] };
  }
  return chosen;
}

const comment = (text: string): string =>
  text
    .split('\n')
    .flatMap((line) => wrapped(line, COMMENT_WIDTH))
    .map((line) => `# ${line}`)
    .join('\n');
