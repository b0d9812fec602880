import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import { answers } from '../terminal/json-output.ts';
import { withContext } from '../installation/context.ts';
import type { RegisterOptions } from '../widgets/register-widget.ts';
import { webAddressValue } from '../terminal/option-parsers.ts';

/** `lectern widget …` */
export function addWidgetCommands(program: Command): void {
  const widget = program.command('widget').description("an organization's own widgets");

  answers(
    widget
      .command('register')
      .description('fetch a release of a widget and keep it; versions published from then on use it')
      .requiredOption('--org <slug>', 'the organization')
      .requiredOption('--type <type>', 'the type that blocks name', widgetTypeValue)
      .requiredOption('--js <url>', 'the ES module', webAddressValue)
      .option('--css <url>', 'the stylesheet', webAddressValue),
    (options: RegisterOptions) =>
      withContext(async (context) => {
        const { registerWidget } = await import('../widgets/register-widget.ts');
        const { created, widgetId, type } = await registerWidget(context, options);
        const known = created ? '' : ' (these files were known; they are its newest release again)';
        return {
          json: { id: widgetId, widgetType: type },
          text: `Registered ${type} as ${widgetId}${known}`,
        };
      }),
  );
}

function widgetTypeValue(text: string): string {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(text)) {
    throw new InvalidArgumentError('It must begin with a letter and may hold letters, digits, - and _ only.');
  }
  if (isCoreWidget(text)) throw new InvalidArgumentError("It is the type of one of Lectern's own widgets.");
  return text;
}
