import { clock, count } from './format.js';
import { gateway, show } from './state.js';

export function Batches() {
  const { batches = [], ended_batches: ended = [] } = gateway.value ?? {};
  if (batches.length + ended.length === 0) return null;
  const rows = [
    ...batches.map((batch) => {
      const { lines, in_flight: inFlight, pace, stuck, text } = batch;
      const far = `${count(lines.completed + lines.failed)} of ${count(lines.total)} lines, ${count(lines.failed)} failed, ${count(inFlight)} queued or running${pace && `, ${pace}`}`;
      return { ...batch, status: stuck ? 'stuck' : 'running', when: '', text: text === '' ? far : `${far}\n${text}` };
    }),
    ...ended.map(({ ended_at: at, ...row }) => ({ ...row, when: clock(at) })),
  ];
  return (
    <section aria-labelledby="batches">
      <h2 id="batches">Batches</h2>
      <ul class="calls">
        {rows.map(({ id, tenant, status, when, text }) => (
          <li key={id}>
            <p class="when">
              <button
                type="button"
                class="link"
                title={`Programs of ${id}, tenant ${tenant}`}
                onClick={() => show({ text: id, tab: when === '' ? '' : 'ended', sort: '', state: '', page: '' })}
              >
                {id}
              </button>
              <span class={`badge ${/failed|expired|stuck/.test(status) ? 'bad' : ''}`}>{status}</span>
              <span class="quiet">{when}</span>
            </p>
            <p class="text">{text}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
