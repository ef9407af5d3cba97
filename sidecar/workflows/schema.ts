import { z } from 'zod';
import { countSchema, DAY_MS, msSchema, nameSchema } from '../config/index.js';

/** Bounds of declared work: far above any program, far below the loss of a token in a sum. */
const CALLS_MAX = 1e6;
export const TOKENS_MAX = 1e9;

/** Most nodes of a workflow: its check takes their number cubed. */
export const NODES_MAX = 256;

/** The rest of a program. `calls` is for the client's own records; engine time follows from the tokens. */
export const remainingSchema = z.strictObject({
  calls: countSchema(0, CALLS_MAX).optional(),
  promptTokens: countSchema(0, TOKENS_MAX),
  outputTokens: countSchema(0, TOKENS_MAX),
});

/** The body field `maitred` of a call. Any name is accepted here: unknown ones are reported, not refused. */
export const fieldSchema = z.strictObject({
  remaining: remainingSchema.optional(),
  workflow: z.string().optional(),
  node: z.string().optional(),
});

const nodeId = z
  .string()
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/, { error: 'must be 1 to 128 printable ASCII characters' });

/** A workflow as clients declare it: docs/WORKFLOWS.md. */
export const workflowSchema = z.strictObject({
  name: nameSchema,
  start: nodeId.optional(),
  nodes: z
    .array(
      z.strictObject({
        id: nodeId,
        promptTokens: countSchema(0, TOKENS_MAX).default(0),
        outputTokens: countSchema(0, TOKENS_MAX).default(0),
        model: z.string().min(1).max(256).optional(),
      }),
    )
    .min(1)
    .max(NODES_MAX),
  edges: z
    .array(
      z.strictObject({
        from: nodeId,
        to: nodeId,
        probability: z.number().gt(0).max(1).optional(),
        tool: z.string().min(1).max(256).optional(),
        ms: msSchema(0, 30 * DAY_MS).optional(),
      }),
    )
    .default([]),
});

export type Workflow = z.output<typeof workflowSchema>;
export type WorkflowInput = z.input<typeof workflowSchema>;
