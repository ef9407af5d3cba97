import { useEffect } from 'preact/hooks';
import { factsOf } from '../text/index.js';
import { connection, gateway, troubleOf } from './state.js';

const ICONS = {
  good: new URL('icon.svg', import.meta.url).href,
  warn: new URL('icon-warn.svg', import.meta.url).href,
  bad: new URL('icon-alarm.svg', import.meta.url).href,
};

const lost = (trouble: string) =>
  ({
    level: 'bad',
    parts: [{ level: 'bad', text: `${trouble} What is below is its last state.` }],
    title: 'Unreachable',
    helps: '',
  }) as const;

/** Is something wrong; who waits, and for what? In the gateway's words; also in the title and the icon of the tab. */
export function StatusLine() {
  const trouble = troubleOf(connection.value);
  const status = trouble === undefined ? gateway.value?.status : lost(trouble);
  const { level = 'good', parts = [], title = '', helps = '' } = status ?? {};
  useEffect(() => {
    document.title = title === '' ? 'maitred' : `${title} – maitred`;
    document.querySelector<HTMLLinkElement>('link[rel=icon]')?.setAttribute('href', ICONS[level]);
  }, [level, title]);
  return (
    <div class={`status ${level}`}>
      {factsOf({ parts, helps }).map(({ level: own, text }) => (
        <p class={own}>{text}</p>
      ))}
    </div>
  );
}
