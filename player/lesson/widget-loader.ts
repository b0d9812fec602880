import type { CoreWidgetType, OnDemandType, OwnTypes } from '../../shared/lessons/core-widgets.ts';
import type { Widget, WidgetCode } from '../widget.ts';
import Audio from '../widgets/Audio/Audio.ts';
import Callout from '../widgets/Callout/Callout.ts';
import Columns from '../widgets/Columns/Columns.ts';
import Divider from '../widgets/Divider/Divider.ts';
import Heading from '../widgets/Heading/Heading.ts';
import Image from '../widgets/Image/Image.ts';
import Formula from '../widgets/Math/Math.ts';
import MultipleChoice from '../widgets/MultipleChoice/MultipleChoice.ts';
import OpenResponse from '../widgets/OpenResponse/OpenResponse.ts';
import Quote from '../widgets/Quote/Quote.ts';
import Text from '../widgets/Text/Text.ts';
import TrueFalse from '../widgets/TrueFalse/TrueFalse.ts';
import Video from '../widgets/Video/Video.ts';
import { framedWidget } from './framed-widget.ts';
import type { FramedWidget } from './framed-widget.ts';
import { loadOnDemand } from './on-demand.ts';

/** The code of each core widget that player.js contains. Its styles and messages follow from it: player/build.ts finds `<Type>.css`. */
const bundledWidgets: Record<Exclude<CoreWidgetType, OnDemandType>, Widget> = {
  Audio,
  Callout,
  Columns,
  Divider,
  Heading,
  Image,
  Math: Formula,
  MultipleChoice,
  OpenResponse,
  Quote,
  Text,
  TrueFalse,
  Video,
};

/** Loads a widget of this page, or the code of one for a frame; null for a type that the source lacks. */
export type WidgetSource = (type: string) => Promise<Widget | WidgetCode | null>;

/** No source has a widget of this type. */
export class UnknownWidget extends Error {
  override readonly name = 'UnknownWidget';
}

/** Returns the widget of a type: at once if it is loaded, as most core widgets always are. */
export type WidgetLoader = (type: string) => Widget | Promise<Widget | FramedWidget>;

/**
 * Loads widgets from the first source that has them, and caches them. Failed ones are loaded again at the next call.
 * Core types are Lectern's own, except those of which the lesson has its own widgets.
 *
 * @param language of the lesson
 */
export function widgetLoader(
  sources: WidgetSource[],
  language: string,
  ownTypes: OwnTypes = [],
): WidgetLoader {
  const all: WidgetSource[] = [
    async (type) => (ownTypes.includes(type) ? null : loadOnDemand(type)),
    ...sources,
  ];
  const known = new Map<string, ReturnType<WidgetLoader>>(
    Object.entries(bundledWidgets).filter(([type]) => !ownTypes.includes(type)),
  );
  return (type) => {
    const found = known.get(type);
    if (found !== undefined) return found;
    const loading = load(all, type, language).then(
      (widget) => {
        if ('mount' in widget) known.set(type, widget);
        return widget;
      },
      (error: unknown) => {
        known.delete(type);
        throw error;
      },
    );
    known.set(type, loading);
    return loading;
  };
}

async function load(sources: WidgetSource[], type: string, language: string): Promise<Widget | FramedWidget> {
  for (const source of sources) {
    const found: unknown = await source(type);
    if (found === null || found === undefined) continue;
    if (isWidget(found)) return found;
    if (isCode(found)) return framedWidget(type, found, language);
    throw new Error(`The module of ${type} exports no widget: it has no mount function`);
  }
  throw new UnknownWidget(`No source has a widget of the type ${type}`);
}

function isCode(value: unknown): value is WidgetCode {
  return typeof (value as Partial<WidgetCode>).js === 'string';
}

function isWidget(value: unknown): value is Widget {
  return typeof (value as Partial<Widget>).mount === 'function';
}
