import type { CoreWidgetType } from '../../shared/lessons/core-widgets.ts';
import type { Widget } from '../widget.ts';
import Audio from '../widgets/Audio/Audio.ts';
import Callout from '../widgets/Callout/Callout.ts';
import Columns from '../widgets/Columns/Columns.ts';
import Heading from '../widgets/Heading/Heading.ts';
import Image from '../widgets/Image/Image.ts';
import MultipleChoice from '../widgets/MultipleChoice/MultipleChoice.ts';
import OpenResponse from '../widgets/OpenResponse/OpenResponse.ts';
import Text from '../widgets/Text/Text.ts';
import Video from '../widgets/Video/Video.ts';

const coreWidgets: Record<CoreWidgetType, Widget> = {
  Audio,
  Callout: { ...Callout, plainProps: ['title'] },
  Columns,
  Heading: { ...Heading, plainProps: ['text'] },
  Image: { ...Image, plainProps: ['alt'] },
  MultipleChoice,
  OpenResponse,
  Text,
  Video,
};

/** A source of widgets: null for a type that it does not have. */
export type WidgetSource = (type: string) => Promise<Widget | null>;

/** Nobody has a widget of this type. */
export class UnknownWidget extends Error {
  override readonly name = 'UnknownWidget';
}

/** The widget of a type: at once when it is there, which core widgets always are. */
export type WidgetLoader = (type: string) => Widget | Promise<Widget>;

/**
 * Finds widgets in the sources, asked in their order, and keeps them. One that could not be loaded is tried again
 * when it is asked for again. A core type is always Lectern's own.
 */
export function widgetLoader(sources: WidgetSource[]): WidgetLoader {
  const known = new Map<string, Widget | Promise<Widget>>(Object.entries(coreWidgets));
  return (type) => {
    const found = known.get(type);
    if (found !== undefined) return found;
    const loading = load(sources, type).then(
      (widget) => {
        known.set(type, widget);
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

async function load(sources: WidgetSource[], type: string): Promise<Widget> {
  for (const source of sources) {
    const widget: unknown = await source(type);
    if (widget === null || widget === undefined) continue;
    if (isWidget(widget)) return widget;
    throw new Error(`What was loaded for ${type} is no widget: it has no mount function`);
  }
  throw new UnknownWidget(`There is no widget of the type ${type}`);
}

function isWidget(value: unknown): value is Widget {
  return typeof (value as Partial<Widget>).mount === 'function';
}
