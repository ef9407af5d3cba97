import { Counter, Gauge, type Registry } from 'prom-client';

type Sample = readonly [labels: Readonly<Record<string, string | number>>, value: number];

/**
 * Registers a metric that is read during a scrape: a counter if its name ends in `_total`, else a gauge.
 * @param read a number: the one value of a metric without labels
 */
export type Scraped = (
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => number | Iterable<Sample>,
) => void;

/** Each scrape begins anew, so that what is gone leaves no last value behind. */
export const scrapedInto =
  (registry: Registry): Scraped =>
  (name, help, labelNames, read) => {
    const options = {
      name: `maitred_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect(this: Gauge | Counter) {
        this.reset();
        const values = read();
        const samples: Iterable<Sample> = typeof values === 'number' ? [[{}, values]] : values;
        for (const [labels, value] of samples) this.inc(labels, value);
      },
    };
    const Metric = name.endsWith('_total') ? Counter : Gauge;
    new Metric(options);
  };
