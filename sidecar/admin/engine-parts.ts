import { isServing } from '../engines/index.js';
import type { Engine } from './answers.js';
import { awayInWords, engineRemedy, failingInWords, failingOf, isBroken, logOf, troubleOf } from './engine-words.js';
import { alike, counted, DOWN_SHOWN, idsInWords } from './figures.js';
import { noneUpInWords, pastOutages, TOGETHER_SECONDS } from './outage-words.js';
import { part, type Part } from './status-part.js';

const LOST = ' Calls for models that no other serves wait or fail meanwhile.';

/** Whether a model of the engine is served by no other. */
function isMissed(engine: Engine, engines: readonly Engine[]): boolean {
  const others = engines.filter((other) => other !== engine && isServing(other));
  return engine.models.some((model) => !others.some(({ models }) => models.includes(model)));
}

/** Whether it is told as one that fails calls, or did. */
const isFailing = (engine: Engine): boolean =>
  engine.state === 'down' ? isBroken(engine) : failingOf(engine) !== undefined;

/** Whether it takes calls, and no row tells that it fails them. */
export const isCalm = (engine: Engine): boolean => isServing(engine) && !isFailing(engine);

/** Whether a row tells that it is out of service. */
export const isAway = (engine: Engine): boolean =>
  engine.state === 'down' ? !isFailing(engine) : /^drain/.test(engine.state);

/** A row for each that is out of service, fails calls or is silent. @param isShort whether calls are short of engines */
export function engineParts(engines: readonly Engine[], isShort: boolean): Part[] {
  const away = engines.filter(isAway);
  const lots = alike(away, (engine) => away.findIndex((other) => wentTogether(engine, other)));
  const failing = engines.filter((engine) => !isAway(engine) && isFailing(engine));
  const silent = engines.filter((engine) => isCalm(engine) && engine.silent_seconds);
  const remedyOf = (engine: Engine) => engineRemedy([engine], isMissed(engine, engines));
  return [
    ...lots.slice(0, DOWN_SHOWN).map((lot) => awayPart(lot, engines, isShort)),
    ...failing.slice(0, DOWN_SHOWN).map((engine) => {
      const level = isBroken(engine) ? 'bad' : 'warn';
      const title = `${engine.id} ${failingOf(engine)} calls`;
      return part('engines', level, title, `${title}: ${failingInWords(engine)}`, remedyOf(engine));
    }),
    ...silent.slice(0, DOWN_SHOWN).map((engine) => {
      const text = `${engine.id} ${troubleOf(engine)}`;
      return part('engines', 'warn', `${engine.id} silent`, text, remedyOf(engine));
    }),
  ];
}

const wentTogether = (a: Engine, b: Engine): boolean =>
  a.state === b.state &&
  a.down_reason === b.down_reason &&
  Math.abs((a.down_since ?? 0) - (b.down_since ?? 0)) <= TOGETHER_SECONDS;

function awayPart(lot: readonly [Engine, ...Engine[]], engines: readonly Engine[], isShort: boolean): Part {
  const [{ state }] = lot;
  const isServed = engines.some(isServing);
  const lost = isServed && lot.some((engine) => isMissed(engine, engines)) ? LOST : '';
  // One that is being removed does not come back.
  const isWanted = isShort && lot.some(({ source }) => source !== null);
  const level = state === 'down' || lost || !isServed ? 'bad' : isWanted ? 'warn' : 'good';
  return part('engines', level, `${idsInWords(lot)} ${state}`, awayInWords(lot) + lost, engineRemedy(lot));
}

/** `1 of 2 engines up, 1 on probation`. */
export function countsInWords(engines: readonly Engine[]): string {
  const has = (state: Engine['state']) => engines.filter((each) => each.state === state).length;
  const beside = (state: Engine['state'], what: string) => (has(state) > 0 ? `, ${has(state)} ${what}` : '');
  const up = has('up') === engines.length ? '' : `${has('up')} of `;
  return `${up}${counted(engines.length, 'engine')} up${beside('starting', 'starting')}${beside('probation', 'on probation')}`;
}

/** Outages that are over. Beside a trouble of now, the engines' own rows tell them. @param level of the failures that came of them */
export function outageParts(engines: readonly Engine[], level: Part['level'] = 'good'): Part[] {
  const told = (text: string, remedy?: string) => part('engines', level, 'past outage', text, remedy);
  const isTroubled = engines.some((engine) => engine.state === 'down' || isFailing(engine));
  const past = isTroubled ? [] : pastOutages(engines.filter(isCalm)).slice(0, DOWN_SHOWN);
  return [...noneUpInWords(engines).map((text) => told(text)), ...past.map(({ text, ids }) => told(text, logOf(ids)))];
}
