import { describe, expect, it as base } from 'vitest';
import type { EngineConfig } from '../../../sidecar/config/schema.js';
import { Membership } from '../../../sidecar/discovery/membership.js';
import type { Engine, Fleet } from '../../../sidecar/engines/index.js';
import { engineId } from '../../../src/index.js';

const engine = (id: string, url = `http://${id}:1`): EngineConfig => ({ id, url, kind: 'openai' });
const engines = (...ids: readonly string[]) => ids.map((id) => engine(id));

/** A fleet in which engines are up as soon as they are wanted, unless named as down. */
class Stage {
  wanted: ReadonlyMap<string, EngineConfig> = new Map();
  now = 0;
  mayBeEmpty = false;
  readonly down = new Set<string>();
  readonly warnings: object[] = [];
  readonly membership: Membership;

  constructor() {
    const get = (id: string) =>
      this.wanted.has(id) ? ({ id, state: this.down.has(id) ? 'starting' : 'up' } as Engine) : undefined;
    const fleet: Partial<Fleet> = {
      get,
      list: () => [...this.wanted.keys()].map((id) => get(id)!),
      resume: () => undefined,
      reconcile: (wanted) => void (this.wanted = wanted),
    };
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warn: (fields: object) => void this.warnings.push(fields),
    };
    this.membership = new Membership(fleet as Fleet, () => this.now, log);
  }

  get ids(): string[] {
    return [...this.wanted.keys()].sort();
  }

  /** One look of a source, a second after the last. */
  found(label: string, ids: readonly string[]): string[] {
    this.now += 1000;
    this.membership.found(label, { engines: engines(...ids), graceMs: 2000, mayBeEmpty: this.mayBeEmpty });
    return this.ids;
  }
}

/** A test with a configured engine, and a source. */
const it = base.extend('stage', () => {
  const stage = new Stage();
  stage.membership.configure(engines('own'), ['s']);
  return stage;
});

describe('engines of a source', () => {
  it('join at once, and leave when they have been missing for the grace', ({ stage }) => {
    expect(stage.found('s', ['a', 'b'])).toEqual(['a', 'b', 'own']);
    expect(stage.found('s', ['b'])).toEqual(['a', 'b', 'own']);
    expect(stage.found('s', ['b'])).toEqual(['a', 'b', 'own']);
    expect(stage.found('s', ['b'])).toEqual(['b', 'own']);
  });

  it('stay when they are missing from one look only, however often', ({ stage }) => {
    for (let round = 0; round < 5; round += 1) {
      expect(stage.found('s', ['a', 'b'])).toEqual(['a', 'b', 'own']);
      expect(stage.found('s', ['b'])).toEqual(['a', 'b', 'own']);
    }
  });

  it('leave one by one, and the last too, if they are not up and the source may list none', ({ stage }) => {
    stage.mayBeEmpty = true;
    stage.found('s', ['a', 'b']);
    stage.down.add('a');
    for (let looks = 0; looks < 3; looks += 1) stage.found('s', []);
    expect(stage.ids).toEqual(['b', 'own']);
    stage.down.add('b');
    for (let looks = 0; looks < 2; looks += 1) stage.found('s', []);
    expect(stage.ids).toEqual(['own']);
  });

  it('stay while the source lists none, or none that is up', ({ stage }) => {
    stage.found('s', ['a', 'b']);
    for (let look = 0; look < 5; look += 1) expect(stage.found('s', [])).toEqual(['a', 'b', 'own']);
    stage.down.add('c');
    for (let look = 0; look < 5; look += 1) expect(stage.found('s', ['c'])).toEqual(['a', 'b', 'c', 'own']);
    // One that is down itself is no loss, unless nothing is listed.
    stage.down.add('a');
    expect(stage.found('s', [])).toEqual(['a', 'b', 'c', 'own']);
    expect(stage.found('s', ['c'])).toEqual(['b', 'c', 'own']);
    stage.down.delete('c');
    expect(stage.found('s', ['c'])).toEqual(['c', 'own']);
  });

  it('are not taken twice: neither an address under two ids, nor an id with two addresses', () => {
    const stage = new Stage();
    stage.membership.configure([engine('own', 'http://10.0.0.1:80'), engine('x')], ['s', 't']);
    const look = {
      engines: [engine('pod', 'http://10.0.0.1'), engine('x', 'http://other:1'), engine('y')],
      mayBeEmpty: false,
    };
    for (const label of ['s', 't', 's']) stage.membership.found(label, { ...look, graceMs: 0 });
    expect(stage.ids).toEqual(['own', 'x', 'y']);
    expect(stage.wanted.get('x')?.url).toBe('http://x:1');
    expect(stage.warnings).toEqual([{ engine: 'x of s' }, { engine: 'x of t' }]);
    expect(['own', 'y', 'pod'].map((id) => stage.membership.originOf(engineId(id)))).toEqual([
      'config',
      's',
      undefined,
    ]);
    for (let look = 0; look < 2; look += 1)
      stage.membership.found('s', { engines: [engine('z')], graceMs: 0, mayBeEmpty: false });
    expect(stage.membership.originOf(engineId('y'))).toBe('t');
  });

  it('of a source that is not configured are nobody’s', ({ stage }) => {
    expect(stage.found('late', ['a'])).toEqual(['own']);
  });
});

describe('changes by hand', () => {
  it('are left alone by sources', ({ stage }) => {
    stage.found('s', ['a', 'b']);
    stage.membership.add(engine('mine'));
    stage.membership.remove(engineId('a'));
    stage.membership.remove(engineId('own'));
    expect(stage.found('s', ['a', 'b'])).toEqual(['b', 'mine']);
    expect(() => stage.membership.add(engine('b'))).toThrow(expect.objectContaining({ code: 'engine_exists' }));
  });

  it('of an engine end when its source has dropped it', ({ stage }) => {
    stage.found('s', ['a', 'b']);
    stage.membership.remove(engineId('a'));
    for (let look = 0; look < 4; look += 1) expect(stage.found('s', ['b'])).toEqual(['b', 'own']);
    expect(stage.found('s', ['a', 'b'])).toEqual(['a', 'b', 'own']);
  });

  it('end at a reload, and an engine that was removed may be added', ({ stage }) => {
    stage.found('s', ['a']);
    stage.membership.remove(engineId('a'));
    stage.membership.add(engine('a', 'http://moved:1'));
    expect(stage.wanted.get('a')?.url).toBe('http://moved:1');
    expect(stage.membership.originOf(engineId('a'))).toBe('admin');
    stage.membership.remove(engineId('own'));
    stage.membership.configure(engines('own'), ['s']);
    expect(stage.ids).toEqual(['a', 'own']);
    expect(stage.wanted.get('a')?.url).toBe('http://a:1');
  });
});

describe('a reload', () => {
  it('keeps what it drops until the new engines have had their time, and refuses ids that are there twice', ({
    stage,
  }) => {
    stage.found('s', ['a']);
    expect(() => stage.membership.configure(engines('x', 'x'), [])).toThrow(
      expect.objectContaining({ code: 'engine_exists' }),
    );
    expect(stage.ids).toEqual(['a', 'own']);
    stage.membership.configure(engines('new'), ['t']);
    expect(stage.ids).toEqual(['a', 'new', 'own']);
    expect(stage.membership.originOf(engineId('a'))).toBe('s');
    stage.membership.remove(engineId('own'));
    expect(stage.found('t', ['b'])).toEqual(['a', 'b', 'new']);
    stage.membership.settle();
    expect(stage.ids).toEqual(['b', 'new']);
  });
});
