import type { PastCall, ProgramDetail } from '../sidecar/admin/answers.js';
import { Command, Link } from './command.js';
import { Facts, type Fact } from './figures.js';
import { brief, clock, count, duration, percent, ratio, tokens } from './format.js';
import { Whole } from './names.js';
import { calls, explain, program, view } from './state.js';
import { TimeLine } from './time-line.js';
import { MEANINGS, isAlike, levelOf, nameOf, stateOf, typeName } from './words.js';

/** One program: why its calls wait, its figures, its calls on a time line, and the reasons of each decision. */
export function ProgramView() {
  const key = view.value.program;
  const detail = program.value;
  const { text = 'Loading.', ended: gone } = explain.value ?? {};
  const past = calls.value?.calls ?? [];
  const named = detail ?? gone;
  if (text === '')
    return (
      <p>
        No such program is here, or several are; see those whose names have it:{' '}
        <Link change={{ program: '', text: key }}>present</Link> or{' '}
        <Link change={{ program: '', tab: 'ended', text: key }}>ended</Link>.
      </p>
    );
  return (
    <section aria-labelledby="program">
      <nav>
        <Link change={{ program: '' }}>← All programs</Link>
      </nav>
      <h2 id="program" title={key}>
        <Whole text={named === undefined ? key : nameOf(named)} />
      </h2>
      <p class="text">{text}</p>
      {detail && (
        <>
          <Facts style="facts wide-facts" facts={factsOf(detail)} />
          {detail.ending === null && (
            <Command
              path={`/programs/${encodeURIComponent(detail.key)}/end?by=operator`}
              question={`End ${brief(detail.id, 80)}? Its running calls finish. Its next call begins a new program, which starts at level 0.`}
            >
              End this program
            </Command>
          )}
        </>
      )}
      <TimeLine past={past} active={detail?.active ?? []} />
      <h3>Ended calls</h3>
      {past.length === 0 ? <p class="quiet">None is remembered.</p> : <PastCalls past={past} />}
    </section>
  );
}

function factsOf(row: ProgramDetail): Fact[] {
  return [
    ['State', stateOf(row)],
    ...(nameOf(row) === row.id ? [] : [['Id', row.id] as const]),
    ['Tenant', row.tenant],
    ['Agent type', typeName(row.agent_type), MEANINGS.type],
    ['Model', row.model ?? '–'],
    ['Identified by', row.identified_by ?? '–'],
    ['Level', levelOf(row), MEANINGS.level],
    ['Service', duration(row.attained_service_seconds), MEANINGS.service],
    ['Queued', `${duration(row.waiting_seconds)}, longest ${duration(row.longest_wait_seconds)}`],
    ['Engine', row.engine ?? '–'],
    ['Calls', `${count(row.calls)}, ${count(row.active_calls)} active`],
    ['Context', `${tokens(row.context_tokens)} tokens`],
    ...(row.on_host_tokens > 0 ? [['On the host', `${tokens(row.on_host_tokens)} tokens`] as const] : []),
    ['From cache', percent(ratio(row.cached_tokens, row.prompt_tokens))],
    ['Answers', `${tokens(row.output_tokens)} tokens`],
    ['Age', duration(row.age_seconds)],
    ...(row.gateway === null ? [] : [['Gateway', row.gateway] as const]),
  ];
}

/** The latest first. Calls without a reason have that of the one above. */
function PastCalls({ past }: { readonly past: readonly PastCall[] }) {
  const rows = past.map((call) => ({ call, said: call.text.split('\n') })).reverse();
  return (
    <ul class="calls ended">
      {rows.map(({ call, said: [outcome, reason = ''] }, at) => (
        <li key={call.call} class={call.outcome}>
          <p>
            <b>{clock(call.arrived_at)}</b> <Thread name={call.thread} /> <span>{outcome}</span>{' '}
            <span class="quiet">{call.call}</span>
          </p>
          {reason !== '' && !isAlike(reason, rows[at - 1]?.said[1]) && <p class="reason">{reason}</p>}
        </li>
      ))}
    </ul>
  );
}

const Thread = ({ name }: { readonly name: string }) =>
  name === '' ? null : (
    <span class="thread" title={name}>
      thread {brief(name, 24)}
    </span>
  );
