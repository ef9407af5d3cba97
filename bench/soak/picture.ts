import { lineChart } from '../../lab/report/plot.js';
import { median } from '../numbers.js';
import type { Measure } from './flat.js';
import type { Sample } from './samples.js';

/** Points of a line; each is the median of what falls on it, and its band the least and the most. */
const POINTS = 90;
const COLUMNS = 2;
const WIDTH = 480;
const HEIGHT = 240;

interface Panel {
  readonly label: string;
  readonly lines: readonly (readonly [name: string, measure: Measure])[];
}

const PANELS: readonly Panel[] = [
  { label: 'memory of the gateway, MB', lines: [['resident', 'rssMb'], ['heap used', 'heapMb'], ['outside the heap', 'externalMb']] },
  { label: 'handles', lines: [['active handles', 'handles'], ['open files', 'sockets']] },
  { label: 'event-loop delay, ms', lines: [['p99', 'loopP99Ms'], ['p50', 'loopP50Ms']] },
  { label: 'calls', lines: [['in the system', 'calls'], ['in flight', 'inFlight'], ['queued', 'queued']] },
  { label: 'programs', lines: [['programs', 'programs'], ['kept places', 'keptPlaces']] },
  { label: 'processors', lines: [['gateway', 'gatewayCpu'], ['engines', 'enginesCpu'], ['load', 'driverCpu']] },
]; // prettier-ignore

/** Small multiples of a run, as one SVG. */
export async function draw(samples: readonly Sample[], title: string): Promise<string> {
  const charts = await Promise.all(PANELS.map((panel) => chart(samples, panel)));
  const placed = charts.map((svg, index) => {
    const x = (index % COLUMNS) * (WIDTH + 20);
    const y = Math.floor(index / COLUMNS) * (HEIGHT + 60);
    return svg.replace('<svg', `<svg x="${x}" y="${y}"`);
  });
  const width = COLUMNS * (WIDTH + 20);
  const height = Math.ceil(PANELS.length / COLUMNS) * (HEIGHT + 60);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img"><title>${title}</title>${placed.join('')}</svg>\n`;
}

const chart = (samples: readonly Sample[], { label, lines }: Panel): Promise<string> =>
  lineChart({
    title: label,
    description: `${lines.map(([name]) => name).join(', ')}; medians, and the least and most of each moment as a band`,
    width: WIDTH,
    height: HEIGHT,
    x: { label: 'minutes' },
    y: { label },
    series: lines.map(([name, measure]) => ({ name, points: pointsOf(samples, measure) })),
  });

function pointsOf(samples: readonly Sample[], measure: Measure) {
  const size = Math.max(1, Math.ceil(samples.length / POINTS));
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, index) => {
    const bin = samples.slice(index * size, (index + 1) * size);
    const values = bin.map((sample) => sample[measure]).filter((value) => !Number.isNaN(value));
    const x = bin[0]!.minutes;
    if (values.length === 0) return { x, y: null };
    return { x, y: median(values), low: Math.min(...values), high: Math.max(...values) };
  });
}
