import type { Views } from '../../src/index.js';
import type { Context } from '../context.js';
import type { Scraped } from './scraped.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'driver'>;

type Accuracy = Views['accuracy'];
type Samples = ReturnType<Parameters<Scraped>[3]>;
type Counts = Iterable<readonly [string, Readonly<Record<string, number>>]>;

/** How right forecasts have proved, read from the scheduler during a scrape. All zero without `policy.foresight`. */
export function registerForecasts(scraped: Scraped, { driver }: Parts): void {
  const counter = (name: string, help: string, labelNames: readonly string[], read: (accuracy: Accuracy) => Samples) =>
    scraped(`forecast_${name}_total`, help, labelNames, () => read(driver.scheduler.views.accuracy));
  const ofTable = (name: string, help: string, labels: [string, string], read: (accuracy: Accuracy) => Counts) =>
    counter(name, help, labels, (accuracy) => samplesOf(labels, read(accuracy)));
  const ofRests = (name: string, help: string, read: (rests: Accuracy['rests']['learnt']) => number) =>
    counter(name, help, ['source'], ({ rests }) =>
      Object.entries(rests).map(([source, sums]) => [{ source }, read(sums)]),
    );

  ofTable(
    'tool_times',
    'Tools that have ended, by the foreseen quantile that they stayed within.',
    ['source', 'within'],
    ({ times }) => Object.entries(times),
  );
  counter(
    'successors',
    'Foreseen next answers, by whether they asked for the foreseen tools.',
    ['outcome'],
    ({ successors }) => Object.entries(successors).map(([outcome, count]) => [{ outcome }, count]),
  );
  ofRests('programs', 'Ended programs whose rest was foreseen.', ({ programs }) => programs);
  ofRests('foreseen_seconds', 'Engine time that these were to take.', ({ foreseenMs }) => foreseenMs / 1000);
  ofRests('taken_seconds', 'Engine time that they took.', ({ takenMs }) => takenMs / 1000);
  ofRests('error_seconds', 'Differences of the two, whatever their sign.', ({ errorMs }) => errorMs / 1000);
}

const samplesOf = ([row, column]: [string, string], counts: Counts): Samples =>
  [...counts].flatMap(([name, cells]) =>
    Object.entries(cells).map(([cell, count]) => [{ [row]: name, [column]: cell }, count] as const),
  );
