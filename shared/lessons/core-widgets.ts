/** The widget types that ship with Lectern. Each is Lectern's own in every lesson, whatever a package brings. */
export const coreWidgetTypes = [
  'Heading',
  'Text',
  'Image',
  'Video',
  'Audio',
  'Callout',
  'Columns',
  'MultipleChoice',
  'OpenResponse',
] as const;

export type CoreWidgetType = (typeof coreWidgetTypes)[number];

export function isCoreWidget(type: string): type is CoreWidgetType {
  return (coreWidgetTypes as readonly string[]).includes(type);
}
