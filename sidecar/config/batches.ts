import { z } from 'zod';
import { PASSES } from '../../plans/index.js';
import { DAY_MS, STARTING, count, fixed, ms, note } from './note.js';

export const batches = z.strictObject({
  folder: fixed(
    z.string().min(1).nullable().default(null),
    'Folder for `/v1/files` and `/v1/batches` (BATCHES.md).',
    'off by default',
  ),
  inFlightMax: note(count(1, 100_000).default(64), 'Lines of batches under way at once.', STARTING),
  fileBytes: note(count(1024, 1e12).default(209_715_200), 'Largest uploaded file.', 'OpenAI’s limit, 200 MB'),
  lineBytes: note(count(1024, 1e8).default(1_048_576), 'Longest line of a batch’s file.', STARTING),
  linesMax: note(count(1, 1e6).default(50_000), 'Most lines of a batch.', 'OpenAI’s limit'),
  bytesMax: note(
    count(1024, 1e15).default(10_737_418_240),
    'Bytes of one tenant’s files; above it, uploads and batches are refused.',
    STARTING,
  ),
  filesMax: note(count(1, 1e6).default(1000), 'Files of one tenant.', STARTING),
  openMax: note(count(1, 10_000).default(50), 'Unfinished batches of one tenant.', STARTING),
  passes: note(
    z.array(z.enum(PASSES)).default([...PASSES]),
    '`merge` asks equal deterministic lines once, `order` puts lines that begin alike together.',
    STARTING,
  ),
  keepMs: note(
    ms(60_000, 3650 * DAY_MS).default(30 * DAY_MS),
    'Age at which files and ended batches are removed.',
    'OpenAI’s for the output of a batch',
  ),
});
