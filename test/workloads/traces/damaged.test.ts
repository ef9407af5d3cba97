import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORMAT_NAMES, programLine, type AgentProgram } from '../../../workloads/index.js';
import { sampleTrace } from '../../support/sample-trace.js';
import { readText } from '../../support/traces.js';

/** Few, because each run reads the whole trace. */
const PROGRAMS = 8;

/** That all programs are as they must be, which reading our own format checks. */
async function expectSound(programs: readonly AgentProgram[]): Promise<void> {
  if (programs.length === 0) return;
  const { problems } = await readText(programs.map((program) => `${programLine(program)}\n`).join(''), 'maitred');
  expect(problems).toEqual([]);
}

describe.each(FORMAT_NAMES)('a trace of %s', (format) => {
  const plain = Buffer.from(sampleTrace(format, PROGRAMS));
  const packed = gzipSync(plain);

  it('that is cut gives the programs before that place, and says so', async () => {
    const whole = await readText(plain);
    expect(whole.problems).toEqual([]);
    expect(whole.programs).toHaveLength(PROGRAMS);
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.double({ min: 0, max: 0.999, noNaN: true }), async (isPacked, share) => {
        const bytes = isPacked ? packed : plain;
        // Two bytes are the least by which an archive is known.
        const { programs, problems } = await readText(bytes.subarray(0, Math.max(2, share * bytes.length)), format);
        // The last may have lost some of what it is made of: lines of their own, or a row's last digits.
        const kept = ['azure', 'event-log'].includes(format) ? programs.slice(0, -1) : programs;
        expect(kept).toEqual(whole.programs.slice(0, kept.length));
        // A cut between two lines of a plain file cannot be seen.
        expect(problems.length).toBeLessThanOrEqual(1);
        if (isPacked) expect(problems[0]).toMatch(programs.length > 0 ? /unreadable$/ : /unreadable$|^empty$/);
        await expectSound(programs);
      }),
      { numRuns: 40, seed: 7 },
    );
  });

  it.each([
    ['', plain],
    [', packed,', packed],
  ])('that is%s damaged gives only programs that are sound', async (_, whole) => {
    const hit = fc.tuple(
      fc.nat(whole.length - 1),
      fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"[]{},-9\n'))),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(hit, { minLength: 1, maxLength: 30 }), async (hits) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of hits) bytes[at] = value;
        const { programs } = await readText(bytes, format);
        await expectSound(programs);
      }),
      { numRuns: 50, seed: 8 },
    );
  });
});
