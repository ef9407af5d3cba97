import { Command, Link } from './command.js';
import { Batches } from './batches.js';
import { Engines } from './engines.js';
import { counted } from './format.js';
import { ProgramView } from './program.js';
import { History } from './history.js';
import { Programs } from './programs.js';
import { StatusLine } from './status.js';
import { announcement, connection, gateway, troubleOf, view } from './state.js';
import { useToken } from './stream.js';
import { Totals } from './totals.js';

export function App() {
  return (
    <>
      <Head />
      <main>{connection.value.state === 'locked' ? <TokenForm /> : <Content />}</main>
    </>
  );
}

function Head() {
  const { state } = connection.value;
  const { policy, draining } = gateway.value ?? {};
  const word = state === 'live' && draining === true ? 'draining' : state;
  return (
    <header class="head">
      <h1>
        <Link change={{ program: '' }}>maitred</Link>
      </h1>
      {policy !== undefined && <span class="quiet">policy {policy}</span>}
      <span class={`badge ${word}`}>{word}</span>
      <span class={announcement.value === 'Connected' ? 'sr' : 'quiet'} aria-live="polite">
        {announcement}
      </span>
      <DemoButton />
    </header>
  );
}

function DemoButton() {
  const { demo = null, demo_programs: programs = null } = gateway.value ?? {};
  if (demo === null) return null;
  return (
    <span class="demo">
      <Command path="/demo" isOff={demo === 'running'}>
        {programs === null
          ? 'Send a demo fleet'
          : `Demo: ${programs.ended} of ${counted(programs.total, 'program')} ended`}
      </Command>
    </span>
  );
}

function Content() {
  const now = connection.value;
  if (gateway.value === undefined)
    return (
      <p class="notice" role="status">
        {troubleOf(now) ?? 'Connecting.'}
      </p>
    );
  return (
    <div class="content">
      <StatusLine />
      {view.value.program === '' ? (
        <>
          <Totals />
          <Engines />
          <History />
          <Programs />
          <Batches />
        </>
      ) : (
        <ProgramView key={view.value.program} />
      )}
    </div>
  );
}

function TokenForm() {
  const now = connection.value;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get('token');
    if (typeof token === 'string') useToken(token);
  };
  return (
    <form class="notice" onSubmit={submit}>
      <label for="token">Admin token</label>
      <input id="token" name="token" type="password" autocomplete="off" required autofocus />
      <button type="submit">Open</button>
      <p class="quiet">The value of admin.token. It is kept in this tab until it is closed.</p>
      {now.state === 'locked' && now.wrongToken && <p role="alert">This token is wrong.</p>}
    </form>
  );
}
