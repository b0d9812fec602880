/**
 * The types of lesson.json, which packages carry, versions store and players play. Any object may have further fields;
 * Lectern keeps them.
 */

import type { Fields } from './widget-fields.ts';

export interface LessonContent {
  lesson: LessonMeta;
  sections: Section[];
  totalSections: number;
  totalSteps: number;
  [field: string]: unknown;
}

export interface LessonMeta {
  /** A lower-case UUID. */
  id: string;
  /** Safe as a file name: 1 to 100 characters of a-z, 0-9 and single hyphens. */
  slug: string;
  title: string;
  status: string;
  /** A BCP 47 language tag. */
  language?: string | null;
  /** The author's estimate in minutes; see `estimatedDuration` in totals.ts. */
  estimatedDuration?: number | null;
  /** False if dollar signs in texts never begin a formula. */
  inlineTex?: boolean | null;
  /** The page before the first step; see cover.ts. */
  cover?: unknown;
  variable_definitions: VariableDefinition[];
  widget_settings: WidgetSettings;
  [field: string]: unknown;
}

export interface VariableDefinition {
  name: string;
  /** Such as "string", "number" or "boolean"; players may know others. */
  type: string;
  initialValue?: unknown;
  [field: string]: unknown;
}

export interface WidgetSettings {
  overrides: Record<string, unknown>;
  /** The fields that custom widgets publish, by type. */
  fields?: Record<string, Fields>;
  [field: string]: unknown;
}

export interface Section {
  /** Unique in the lesson. */
  id: string;
  title: string;
  order_index: number;
  steps: Step[];
  [field: string]: unknown;
}

export interface Step {
  /** Unique in the lesson. */
  id: string;
  title: string;
  order_index: number;
  content: StepContent;
  [field: string]: unknown;
}

/** The data model of the Puck editor. */
export interface StepContent {
  content: Block[];
  root: { [field: string]: unknown };
  /** Blocks of older content, by "<block id>:<zone name>". */
  zones?: Record<string, Block[]>;
  [field: string]: unknown;
}

export interface Block {
  /** The widget type. Unfinished lessons may lack it: see playability.ts. */
  type?: string;
  props: BlockProps;
  [field: string]: unknown;
}

export interface BlockProps {
  /** Unique in the step. */
  id: string;
  [prop: string]: unknown;
}
