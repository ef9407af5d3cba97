import { z } from 'zod';
import { configKeys } from '../../sidecar/config/schema.js';
import { readText } from './tree.js';

export const CHART_SCHEMA = 'charts/maitred/values.schema.json';

/** The chart's schema of values, with `config` as the gateway's own schema says. */
export function renderChartSchema(): string {
  const schema = JSON.parse(readText(CHART_SCHEMA)) as { properties: Record<string, unknown> };
  schema.properties['config'] = configValues();
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Values end in a ConfigMap, so a secret must be a reference. A hash of a key is none. */
function configValues(): object {
  return z.toJSONSchema(configKeys, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      if (jsonSchema['secret'] === true) refer(jsonSchema);
      // Notes of the documentation, which only make the file longer.
      for (const key of ['default', 'source', 'restart', 'secret']) Reflect.deleteProperty(jsonSchema, key);
    },
  });
}

/** Lets a secret, or each value of a mapping of secrets, only be `env:NAME`. */
function refer(secret: z.core.JSONSchema.BaseSchema): void {
  const { pattern } = secret;
  const reference = {
    type: 'string',
    pattern: pattern === undefined ? '^env:\\w+$' : `^env:\\w+$|${pattern}`,
  } as const;
  delete secret.anyOf;
  delete secret.minLength;
  if (secret.type === 'object') secret.additionalProperties = reference;
  else Object.assign(secret, reference);
}
