import type { Command, Option } from 'commander';
import { OWN_NAME } from './advice.js';
import { didYouMean } from '../sidecar/config/index.js';

/** Tells, for every command, what commander would ignore, or would tell only after something less likely. */
export function guard(program: Command): void {
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  const required = all(program).flatMap(({ options }) => options.filter(({ mandatory }) => mandatory));
  // Commander asks for them before it tells an unknown option, which may be a misspelt one of them.
  for (const option of required) option.makeOptionMandatory(false);
  const isGiven = (command: Command, option: Option) => command.getOptionValueSource(option.attributeName()) === 'cli';
  for (const command of all(program)) {
    command.allowExcessArguments();
    for (const option of command.options) refuseSecond(command, option);
  }
  program.hook('preAction', (_, acting) => {
    const { args, options, registeredArguments: wanted } = acting;
    const [[word], known] = [args, acting.commands.map((each) => each.name())];
    if (known.length > 0 && word !== undefined)
      acting.error(
        `unknown command '${word}'${didYouMean(word, known) || `; ${acting.name()} has ${known.join(', ')}, and options`}`,
      );
    const more = wanted.at(-1)?.variadic ? undefined : args[wanted.length];
    if (more !== undefined) {
      const likely = /^https?:/i.test(more) ? /^--(engine|url)$/ : /^--config$/;
      const byNpm = process.env['npm_lifecycle_event'] === 'start';
      // Without `--`, npm takes the option for one of its own, and passes its value alone.
      const isTaken = ({ long }: Option) => byNpm && `npm_config_${long?.slice(2).replaceAll('-', '_')}` in process.env;
      const { long } =
        (wanted.length === 0 && (options.find(isTaken) ?? options.find(({ long }) => likely.test(long ?? '')))) || {};
      const own = byNpm ? 'npm start --' : `${OWN_NAME} ${acting.name()}`;
      acting.error(
        `'${more}' is one argument too many${long ? `; did you mean ${own} ${long} ${more}?` : `: --help tells what ${acting.name()} takes`}`,
      );
    }
    const missing = options.find((option) => required.includes(option) && !isGiven(acting, option));
    if (missing !== undefined) acting.error(`required option '${missing.flags}' not specified`);
  });
  for (const command of program.commands.filter(({ commands }) => commands.length > 0))
    command.hook('preSubcommand', (_, sub) => {
      const misplaced = command.options.find((option) => isGiven(command, option));
      if (misplaced !== undefined)
        command.error(
          `${misplaced.long ?? ''} stands before ${sub.name()}: it would be ignored; options of ${sub.name()} stand after it`,
        );
    });
}

/** Of two values commander takes the last, unless the option collects them in a list. */
function refuseSecond(command: Command, option: Option): void {
  const isOfOne = () => !option.isBoolean() && !Array.isArray(command.getOptionValue(option.attributeName()));
  let times = 0;
  command.on(`option:${option.name()}`, () => {
    times += 1;
    if (times > 1 && isOfOne()) command.error(`option '${option.flags}' is given twice: give one value`);
  });
}
