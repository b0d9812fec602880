import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { createDownloader, DownloadError } from '../../shared/downloads/downloader.ts';
import type { Downloader } from '../../shared/downloads/downloader.ts';
import { LecternError } from '../../shared/errors.ts';
import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { answers } from '../answers.ts';
import { requireOrganization, withContext } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { webAddressValue } from '../values.ts';

/** A widget is read whole before it is kept; none is larger than this. */
const maxWidgetBytes = 16 * 1024 ** 2;

interface RegisterOptions {
  org: string;
  type: string;
  js: string;
  css?: string;
}

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
        const { created, widgetId, type } = await register(context, options);
        const known = created ? '' : ' (these files were known; they are its newest release again)';
        return {
          json: { id: widgetId, widgetType: type },
          text: `Registered ${type} as ${widgetId}${known}`,
        };
      }),
  );
}

async function register({ config, db, store, signal }: CommandContext, options: RegisterOptions) {
  const { _id: organizationId } = await requireOrganization(db, options.org);
  const downloader = createDownloader(config.download);
  try {
    const js = await fetchFile(downloader, options.js, 'text/javascript', signal);
    const css =
      options.css === undefined ? null : await fetchFile(downloader, options.css, 'text/css', signal);
    const files = { js: bytesOf(js), css: css === null ? null : bytesOf(css) };
    return await releaseWidget(db, store, { organizationId, type: options.type, ...files });
  } finally {
    downloader.close();
  }
}

async function fetchFile(
  downloader: Downloader,
  url: string,
  mimeType: string,
  signal: AbortSignal,
): Promise<Buffer> {
  try {
    const result = await downloader.download(
      { url, mimeType, maxBytes: maxWidgetBytes, signal },
      async (body) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of body) chunks.push(chunk);
        return Buffer.concat(chunks);
      },
    );
    return result.modified ? result.stored : Buffer.alloc(0);
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    const hint =
      error.reason === 'blocked_address'
        ? ' (name it in LECTERN_ALLOWED_PRIVATE_HOSTS where it is your own)'
        : '';
    throw new LecternError('INVALID_CONTENT', `Cannot fetch ${url}: ${error.reason}${hint}`, {
      cause: error,
    });
  }
}

function widgetTypeValue(text: string): string {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(text)) {
    throw new InvalidArgumentError('It must begin with a letter and may hold letters, digits, - and _ only.');
  }
  if (isCoreWidget(text)) throw new InvalidArgumentError("It is the type of one of Lectern's own widgets.");
  return text;
}
