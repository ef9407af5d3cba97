import { z } from 'zod';
import { STARTING, count, note } from './note.js';

export const kvEvents = z.strictObject({
  port: count(1, 65_535)
    .nullable()
    .default(null)
    .meta(
      note(
        'Port that engines connect to with their KV events. Null: off. Needs the package `zeromq`.',
        'off by default',
        {
          restart: true,
        },
      ),
    ),
  host: z
    .string()
    .regex(/^(\*|[\w.-]+|\[[\da-f:.]+\])$/i, { error: 'must be an address or *, with IPv6 in brackets' })
    .default('127.0.0.1')
    .meta(note('Address to listen on for them; `*` for all.', 'as `listen.host`', { restart: true })),
  ranks: count(1, 64)
    .default(1)
    .meta(note('Data-parallel ranks of an engine: each connects to the next port.', STARTING, { restart: true })),
  blocksMax: count(1, 1e8)
    .default(500_000)
    .meta(note('Blocks of a rank to remember; older ones are forgotten.', STARTING)),
  messageBytes: count(1024, 1e9)
    .default(16_777_216)
    .meta(note('Largest message. An engine that sends a larger one is disconnected.', STARTING, { restart: true })),
});
