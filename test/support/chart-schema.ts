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
  const { $schema: _, ...schema } = z.toJSONSchema(configKeys, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      if (jsonSchema['secret'] === true) {
        const { pattern } = jsonSchema;
        delete jsonSchema.anyOf;
        delete jsonSchema.minLength;
        jsonSchema.type = 'string';
        jsonSchema.pattern = pattern === undefined ? '^env:\\w+$' : `^env:\\w+$|${pattern}`;
      }
      for (const key of ['default', 'source', 'restart', 'secret']) delete jsonSchema[key];
    },
  });
  return schema;
}
