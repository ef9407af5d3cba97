import { z } from 'zod';
import { name, NONE, note } from './note.js';

/** Most nodes of any workflow: its check takes their number cubed. */
export const WORKFLOW_NODES_MAX = 1000;

const file = z.string().min(1);

export const workflows = note(
  z
    .array(
      z.union([file, z.strictObject({ file, tenant: name.optional() })], {
        error: 'must be a file, or a mapping of file and, optionally, tenant',
      }),
    )
    .max(100)
    .default([]),
  'Files of declared workflows (docs/WORKFLOWS.md), JSON or YAML: a path for all tenants, or `{file, tenant}`.',
  NONE,
);
