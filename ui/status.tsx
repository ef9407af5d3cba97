import { useEffect } from 'preact/hooks';
import { connection, gateway } from './state.js';

const CALM = new URL('icon.svg', import.meta.url).href;
const ALARM = new URL('icon-alarm.svg', import.meta.url).href;
const UNREACHED = {
  level: 'bad',
  parts: [{ level: 'bad', text: 'The gateway cannot be reached. What is below is its last state.' }],
  title: 'Unreachable',
} as const;

/** Is something wrong; who waits, and for what? In the gateway's words; also in the title and the icon of the tab. */
export function StatusLine() {
  const told = connection.value.state === 'reconnecting' ? UNREACHED : gateway.value?.status;
  const { level = 'good', parts = [], title = '' } = told ?? {};
  useEffect(() => {
    document.title = title === '' ? 'maitred' : `${title} – maitred`;
    document.querySelector<HTMLLinkElement>('link[rel=icon]')?.setAttribute('href', level === 'bad' ? ALARM : CALM);
  }, [level, title]);
  return (
    <p class={`status ${level}`}>
      {parts.map(({ level: own, text }) => (
        <span class={own}>{text} </span>
      ))}
    </p>
  );
}
