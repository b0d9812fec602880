import { onDemandTypes } from '../../shared/lessons/core-widgets.ts';
import type { OnDemandType } from '../../shared/lessons/core-widgets.ts';
import * as message from '../../shared/i18n/message.ts';
import * as jsonValues from '../../shared/lessons/json-values.ts';
import * as define from '../define.ts';
import * as dom from '../dom.ts';
import * as html from '../html.ts';
import * as props from '../props.ts';
import * as hint from '../question/hint.ts';
import * as parts from '../question/parts.ts';
import * as question from '../question/question.ts';
import type { Widget } from '../widget.ts';
import type { KitModule } from './kit-modules.ts';
import { addStyles } from '../older-browsers.ts';

const kit: Record<KitModule, unknown> = {
  'player/define.ts': define,
  'player/dom.ts': dom,
  'player/html.ts': html,
  'player/props.ts': props,
  'player/question/hint.ts': hint,
  'player/question/parts.ts': parts,
  'player/question/question.ts': question,
  'shared/i18n/message.ts': message,
  'shared/lessons/json-values.ts': jsonValues,
};

/** The content of a widget's file, as player/build.ts writes it: a CommonJS module and a stylesheet. */
export interface WidgetScript {
  define(require: (name: KitModule) => unknown, module: { exports: { default?: Widget } }): void;
  css: string;
}

/** The URL of this script, whose folder has the widgets' files. A classic script has no `import.meta`. */
const ownUrl = (document.currentScript as HTMLScriptElement | null)?.src ?? import.meta.url;

/**
 * Loads a core widget that player.js does not contain; null for other types. The file is a classic script, because a
 * page opened from a folder cannot import modules.
 */
export async function loadOnDemand(type: string): Promise<Widget | null> {
  if (!onDemandTypes.includes(type as OnDemandType)) return null;
  const { href } = new URL(`widget-${type}.js`, ownUrl);
  const script: HTMLScriptElement & { widget?: WidgetScript } = dom.element('script', { src: href });
  try {
    await new Promise((resolve, reject) => {
      script.addEventListener('load', resolve, { once: true });
      script.addEventListener('error', () => reject(new Error(`${href} was not loaded`)), { once: true });
      document.head.append(script);
    });
  } finally {
    script.remove();
  }
  if (script.widget === undefined) throw new Error(`${href} is not a widget of this player`);
  const module: Parameters<WidgetScript['define']>[1] = { exports: {} };
  script.widget.define((name) => kit[name], module);
  addStyles(script.widget.css);
  return module.exports.default ?? null;
}
