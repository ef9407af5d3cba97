import { rmSync, readFileSync, writeFileSync, appendFileSync, chmodSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { completion, gate, until } from '../sidecar/gateway/world.js';
import { lineOf } from '../sidecar/batches/service.js';
import { idsIn, needing, LINES, stage } from './batch-stage.js';

describe('maitred batch run, once more', () => {
  it('asks failed lines again once their errors are deleted', async () => {
    const { engine, out, batch } = await stage();
    engine.answer = (response) => void response.writeHead(404).end('{}');
    expect((await batch()).err).toContain('or all if you delete it');
    engine.answer = completion();
    rmSync(`${out}.errors`);
    expect((await batch('--resume')).code).toBe(0);
    expect(idsIn(out)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('goes on with what is missing, a half-written line included; another batch’s answers stay', async () => {
    const { engine, file, out, batch } = await stage();
    await batch();
    const [first] = readFileSync(out, 'utf8').split('\n');
    writeFileSync(out, `${first}\n{"id":"batch_r`);
    expect((await batch('--resume')).code).toBe(1);
    expect(idsIn(out)).toEqual(['a', 'b']);
    expect(engine.seen).toHaveLength(4);
    writeFileSync(out, `${first}`.slice(0, 9));
    expect((await batch('--resume')).code).toBe(1);
    writeFileSync(file, lineOf('e'));
    const other = await batch('--resume');
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('keep it, and name another file')]);
    expect(idsIn(out)).toEqual(['a', 'b']);
  });

  it('asks lines that have changed or are new, and those that need them, wherever they stand', async () => {
    const { engine, file, out, batch } = await stage([...LINES, lineOf('e', 'early')]);
    await batch();
    const before = engine.seen.length;
    appendFileSync(out, 'broken\n');
    chmodSync(out, 0o600);
    const mended = [
      lineOf('new'),
      lineOf('e', 'late'),
      needing('d', 'c'),
      lineOf('c', 'mended'),
      lineOf('a'),
      needing('b', 'a'),
    ];
    writeFileSync(file, mended.join('\n').replaceAll(',"', ', "'));
    const { code, errors } = await batch('--resume');
    const told = `maitred: ${file} has changed: 3 results of lines that changed or went, or that need such, moved to ${out}.old; lines without a result are asked`;
    expect([code, errors]).toEqual([
      0,
      [told, expect.stringContaining(`${out}:3: is no whole answer`), '6 of 6 lines answered, 0 failed'],
    ]);
    expect(engine.seen.slice(before).map(({ body }) => /early|late|mended|hello/.exec(String(body))?.[0])).toEqual(
      expect.arrayContaining(['hello', 'late', 'mended']),
    );
    expect(engine.seen).toHaveLength(before + 4);
    expect([out, `${out}.old`].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    const answers = readFileSync(out, 'utf8').replace('broken\n', '');
    writeFileSync(out, answers);
    expect([idsIn(out), idsIn(`${out}.errors`), idsIn(`${out}.old`)]).toEqual([
      ['a', 'b', 'c', 'd', 'e', 'new'],
      [],
      ['c', 'd', 'e'],
    ]);
    expect((await batch('--resume')).errors).toEqual(['6 of 6 lines answered, 0 failed']);
    expect(engine.seen).toHaveLength(before + 4);
  });

  it('goes on beside broken lines, and names them', async () => {
    const { engine, out, batch } = await stage([lineOf('a'), lineOf('b'), lineOf('c')]);
    await batch('--parallel', '1');
    const [a = '', b = '', c = ''] = readFileSync(out, 'utf8').split('\n');
    const whole = `${b.slice(9)}\n\n${a}\n${c.slice(0, 60)}${a}\n`;
    writeFileSync(out, `${whole}${c.slice(20, 40)}`);
    const { code, errors } = await batch('--resume');
    const told = (line: number) =>
      `maitred: ${out}:${line}: is no whole answer and stays there; calls that lack one are asked`;
    expect([code, errors]).toEqual([0, [told(1), told(2), told(4), '3 of 3 lines answered, 0 failed']]);
    expect(engine.seen).toHaveLength(5);
    const kept = readFileSync(out, 'utf8');
    expect(kept.startsWith(whole)).toBe(true);
    expect(kept.slice(whole.length).trim().split('\n').toSorted()).toEqual([b, c].toSorted());
    writeFileSync(out, 'no answer\n');
    expect((await batch('--resume')).err).toContain('holds no answers of this batch');
    expect(readFileSync(out, 'utf8')).toBe('no answer\n');
  });

  it.runIf(process.platform === 'linux')('leaves a file alone that another run writes', async () => {
    const { engine, out, batch } = await stage([lineOf('a')]);
    const { opened, open } = gate();
    engine.answer = async (...asked) => {
      await opened;
      await completion()(...asked);
    };
    const first = batch();
    await until(() => engine.seen.length === 1);
    for (const flags of [[], ['--resume']])
      expect(await batch(...flags)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`${out}: cannot be used: another run`) as string,
      });
    open();
    expect((await first).code).toBe(0);
    expect([idsIn(out), engine.seen.length]).toEqual([['a'], 1]);
  });

  it('stops at a signal once the calls under way have ended, and goes on later', async () => {
    const { engine, out, batch } = await stage([lineOf('a'), lineOf('b')]);
    const { opened, open } = gate();
    engine.answer = async (...asked) => {
      await opened;
      await completion()(...asked);
    };
    const stopped = batch('--parallel', '1');
    await until(() => engine.seen.length === 1);
    process.emit('SIGINT', 'SIGINT');
    open();
    const told = ['waiting for 1 line in flight', '1 of 2 lines answered', '--resume'].map(
      (words) => expect.stringContaining(words) as string,
    );
    expect(await stopped).toMatchObject({ code: 130, errors: told });
    expect(idsIn(out)).toHaveLength(1);
    expect((await batch('--resume')).code).toBe(0);
    expect([idsIn(out), engine.seen.length]).toEqual([['a', 'b'], 2]);
  });
});
