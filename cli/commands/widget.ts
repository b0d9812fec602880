import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import { contextCommand, requireOrganization } from '../installation/context.ts';
import type { RegisterOptions } from '../widgets/register-widget.ts';
import { parseHttpUrl } from '../terminal/option-parsers.ts';

/** `lectern widget …` */
export function addWidgetCommands(widget: Command): void {
  contextCommand(
    widget
      .command('register')
      .description(
        'fetch and store a release of a widget; versions that are first published after that use it',
      )
      .requiredOption('--org <slug>', 'the organization')
      .requiredOption('--type <type>', "the widget's type, as blocks name it", parseWidgetType)
      .requiredOption('--js <url>', 'the ES module', parseHttpUrl)
      .option('--css <url>', 'the stylesheet', parseHttpUrl),
    async (context, options: RegisterOptions) => {
      const { registerWidget } = await import('../widgets/register-widget.ts');
      const { _id: organizationId } = await requireOrganization(context.db, options.org);
      const { created, widgetId, type } = await registerWidget(context, organizationId, options);
      await context.audit(organizationId, 'widget.register', { target: { type: 'widget', id: widgetId } });
      const known = created ? '' : ' (a known release, which is the newest again)';
      return {
        json: { id: widgetId, widgetType: type },
        text: `Registered ${type} as ${widgetId}${known}`,
      };
    },
  );
}

function parseWidgetType(text: string): string {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(text)) {
    throw new InvalidArgumentError(
      'It must begin with a letter and may contain only letters, digits, - and _.',
    );
  }
  if (isCoreWidget(text)) throw new InvalidArgumentError("It is the type of one of Lectern's own widgets.");
  return text;
}
