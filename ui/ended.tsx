import type { EndedPrograms } from '../sidecar/admin/answers.js';
import { clock, count, duration, percent, ratio } from './format.js';
import { ended, go, urlOf } from './state.js';
import { NAMED_BY, nameOf } from './words.js';

const CAUSES: Readonly<Record<EndedPrograms['programs'][number]['cause'], string>> = {
  ended: 'announced',
  expired: 'idle for too long',
  evicted: 'idle, row needed',
};

/** The last programs that have left the table. Their calls are still known, as far as they are remembered. */
export function Ended() {
  const rows = ended.value?.programs ?? [];
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label="Ended programs">
      <table class="programs">
        <thead>
          <tr>
            <th scope="col">Program</th>
            <th scope="col" class="number">
              Ended
            </th>
            <th scope="col" class="number" title="First call to last answer">
              Took
            </th>
            <th scope="col" class="number" title="Queued, of all time that its calls spent here">
              Queued
            </th>
            <th scope="col" class="number desk">
              Calls
            </th>
            <th scope="col" class="desk">
              Engine
            </th>
            <th scope="col" class="tablet">
              Model
            </th>
            <th scope="col" class="tablet">
              Why
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const target = { program: row.key, span: '' };
            return (
              <tr key={`${row.key} ${row.ended_at}`}>
                <th scope="row" title={`${row.id}, ${NAMED_BY(row)}`}>
                  <a href={urlOf(target)} onClick={(event) => go(event, target)}>
                    {nameOf(row)}
                  </a>
                </th>
                <td class="number">{clock(row.ended_at)}</td>
                <td class="number">{duration(row.duration_seconds)}</td>
                <td class="number">{percent(ratio(row.queue_seconds, row.queue_seconds + row.service_seconds))}</td>
                <td class="number desk">{count(row.calls)}</td>
                <td class="desk" title={row.engine ?? undefined}>
                  {row.engine ?? '–'}
                </td>
                <td class="tablet" title={row.model ?? undefined}>
                  {row.model ?? '–'}
                </td>
                <td class="tablet">{CAUSES[row.cause]}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length === 0 && (
        <p class="quiet empty">None has ended yet. A program ends when its client says so, or after its lease.</p>
      )}
    </div>
  );
}
