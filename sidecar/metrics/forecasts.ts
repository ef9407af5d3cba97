import type { Views } from '../../src/index.js';
import type { Context } from '../context.js';
import type { Scraped } from './scraped.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'driver'>;

/** How right declared rests have proved, read from the scheduler during a scrape. All zero without `policy.foresight`. */
export function registerForecasts(scraped: Scraped, { driver }: Parts): void {
  const counter = (name: string, help: string, read: (accuracy: Views['accuracy']) => number) =>
    scraped(`forecast_${name}_total`, help, [], () => [[{}, read(driver.scheduler.views.accuracy)]]);

  counter('programs', 'Ended programs whose rest was declared and believed.', ({ programs }) => programs);
  counter('foreseen_seconds', 'Engine time that these were to take.', ({ foreseenMs }) => foreseenMs / 1000);
  counter('taken_seconds', 'Engine time that they took.', ({ takenMs }) => takenMs / 1000);
  counter('error_seconds', 'Differences of the two, whatever their sign.', ({ errorMs }) => errorMs / 1000);
}
